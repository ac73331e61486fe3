/// The number of requests that a server permits in any period of a given length.
///
/// ```swift
/// RateLimitPlugin(RateLimit(100, per: .seconds(1)))
/// RateLimitPlugin(RateLimit(5_000, per: .seconds(3_600), burst: 50))
/// ```
///
/// A server that counts the requests of any period of this length never counts more than the limit, in whatever order
/// and however late within `jitter` they arrive. To be sure of that, a request counts from the moment it is sent until
/// one period after its response began, or one period and the jitter after it was sent, whichever is first. So the
/// average delay on the way is lost: with delays of 0 to 50 ms and a period of 1 s, 97.4 % of the limit can be used.
///
/// Requests are spaced evenly, `per` / `count` apart. After a request was held up, the next ones follow at no more than
/// twice that pace until they are back on schedule, unless `catchesUp` is `false`.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `count` | | requests that cost 1 | 1...1,000,000,000 |
/// | `per` | | | 1 ms ... 366 days |
/// | `burst` | 1 | requests that cost 1 | 1...`count` |
/// | `jitter` | 50 ms | | 0 ... `per` |
/// | `catchesUp` | `true` | | |
///
/// Source: the generic cell rate algorithm, ITU-T I.371, https://www.itu.int/rec/T-REC-I.371
public struct RateLimit: Sendable, Hashable {
    let count: Int
    let period: Duration
    let burst: Int
    let jitter: Duration
    let catchesUp: Bool

    /// Makes a limit.
    ///
    /// - Parameters:
    ///   - count: the number of requests per period.
    ///   - period: the length of the period.
    ///   - burst: the number of requests that are sent without spacing after a pause. A burst never exceeds the limit
    ///     of a period. It exceeds the limit of a server that counts shorter periods in proportion, such as 10 requests
    ///     per 100 ms for 100 per second, and that of a token bucket with fewer than `burst` tokens. With a
    ///     store, requests are spaced by (`per` + `jitter`) / (`count` - `burst` + 1), so a burst of 50 of 100 halves
    ///     the rate.
    ///   - jitter: the longest time from sending a request to its arrival that varies. If a request takes longer, the
    ///     server may count it later than the plugin and so exceed the limit; a new connection may be such a case.
    ///   - catchesUp: whether requests may follow at twice the pace after one that was held up. If not, two requests
    ///     are never closer than `per` / `count` outside of a burst, and 96.3 % of the limit can be used in the example
    ///     above.
    public init(
        _ count: Int,
        per period: Duration,
        burst: Int = 1,
        jitter: Duration = .milliseconds(50),
        catchesUp: Bool = true
    ) {
        precondition((1...1_000_000_000).contains(count), "count is \(count), not in 1...1,000,000,000")
        precondition(
            (.milliseconds(1) ... .seconds(366 * 86_400)).contains(period),
            "per is \(period), not in 1 ms ... 366 days"
        )
        precondition((1...count).contains(burst), "burst is \(burst), not in 1...\(count)")
        precondition((.zero...period).contains(jitter), "jitter is \(jitter), not in 0 ... \(period)")
        self.count = count
        self.period = period
        self.burst = burst
        self.jitter = jitter
        self.catchesUp = catchesUp
    }

    /// The time between two requests of processes that share the limit.
    ///
    /// In less than (`count` - `burst` + 1) intervals, a store permits at most that many requests and a burst, so the
    /// server counts no more than `count` in a period, however requests are delayed within the jitter.
    var sharedInterval: Duration { (period + jitter) / (count - burst + 1) }

    /// How much of the limit each process may have reserved in a shared store: a burst, and at least enough for 50 ms
    /// of all requests.
    var reservableCost: Int { max(burst, Int((Double(count) * (.milliseconds(50) / period)).rounded(.up))) }

    /// Returns the limit of a process that uses only a share of it.
    func scaled(by share: Double) -> RateLimit {
        let count = max(1, Int(Double(count) * share))
        return RateLimit(count, per: period, burst: min(burst, count), jitter: jitter, catchesUp: catchesUp)
    }

    var window: RateWindow {
        RateWindow(
            limit: count,
            window: Int64(clamping: period.attoseconds / 1_000_000_000),
            burst: burst,
            jitter: Int64(clamping: jitter.attoseconds / 1_000_000_000),
            catchesUp: catchesUp
        )
    }
}
