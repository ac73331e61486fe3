/// How long a ``HedgingPlugin`` waits for a response before it sends a further copy of the request.
///
/// ```swift
/// HedgingPlugin(after: .percentile(0.95))
/// try await provider.request(.search, options: .init { $0.hedging = .fixed(.milliseconds(80)) })
/// ```
public struct HedgingDelay: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case never
        case fixed(Duration)
        case percentile(Double, atFirst: Duration)
    }

    let kind: Kind

    /// No copy is sent.
    public static let never = HedgingDelay(kind: .never)

    /// Returns a delay that is always the same, zero and up.
    public static func fixed(_ delay: Duration) -> HedgingDelay {
        precondition(delay >= .zero, "delay is \(delay), less than zero")
        return HedgingDelay(kind: .fixed(delay))
    }

    /// Returns a delay within which the given share of the latest responses arrived, plus 1 ms.
    ///
    /// The share of requests that are sent twice is about `1 - share`. The plugin observes the first copies of the
    /// latest 1,000 requests of a partition.
    ///
    /// - Parameters:
    ///   - share: the share of responses to wait for, `0.5...0.999`.
    ///   - initial: the delay until 20 responses of the partition have been observed, zero and up.
    /// - Returns: the delay.
    public static func percentile(_ share: Double, atFirst initial: Duration = .seconds(1)) -> HedgingDelay {
        precondition((0.5...0.999).contains(share), "share is \(share), not in 0.5...0.999")
        precondition(initial >= .zero, "atFirst is \(initial), less than zero")
        return HedgingDelay(kind: .percentile(share, atFirst: initial))
    }
}
