/// The number of requests that ``ConcurrencyLimitPlugin`` lets through at the same time.
///
/// ```swift
/// ConcurrencyLimitPlugin(.fixed(8))
/// ConcurrencyLimitPlugin(.adaptive(initial: 10, range: 4...200))
/// ```
public struct ConcurrencyLimit: Sendable, Hashable {
    /// The limit at the start.
    let initial: Int
    /// The range of a limit that adapts; `nil` for a fixed one.
    let range: ClosedRange<Int>?

    /// Returns a limit that never changes.
    ///
    /// - Parameter count: the number of requests at the same time, 1 and up.
    /// - Returns: the limit.
    public static func fixed(_ count: Int) -> ConcurrencyLimit {
        precondition(count > 0, "count is \(count), not 1 or more")
        return ConcurrencyLimit(initial: count, range: nil)
    }

    /// Returns a limit that finds out how many requests a server can work on at the same time.
    ///
    /// It falls only on evidence: if the server drops requests, or if its latency rises while requests wait.
    /// It grows while requests wait and the latency stays the same. After an outage, it recovers within seconds.
    ///
    /// - Parameters:
    ///   - initial: the limit at the start, within `range`; defaults to 200, which holds back no healthy traffic.
    ///   - range: the lowest and the highest limit, within `1...1_000_000`; defaults to `1...1_000`.
    /// - Returns: the limit.
    public static func adaptive(initial: Int = 200, range: ClosedRange<Int> = 1...1_000) -> ConcurrencyLimit {
        precondition(
            range.lowerBound > 0 && range.upperBound <= 1_000_000,
            "range is \(range), not within 1...1,000,000"
        )
        precondition(range.contains(initial), "initial is \(initial), not in \(range)")
        return ConcurrencyLimit(initial: initial, range: range)
    }
}
