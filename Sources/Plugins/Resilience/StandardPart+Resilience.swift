public import PipelineCore
import PipelinePlugins

extension StandardPart {
    /// Timeouts, retries, a circuit breaker, a gate after Retry-After, and a concurrency limit, for servers that are
    /// slow, overloaded or down.
    public static var resilient: StandardPart { resilient() }

    /// Returns the same with circuits, gates and limits of other partitions.
    ///
    /// ```swift
    /// let provider = Provider<Shop>(
    ///     transport: transport,
    ///     plugins: [.standard(.resilient, .rateLimit(RateLimitPlugin(RateLimit(100, per: .seconds(1)))))]
    /// )
    /// ```
    ///
    /// | slot | plugin | why |
    /// |---|---|---|
    /// | `timeouts` | 8 s for an attempt, 30 s for the call, and for each piece of a body | a caller learns in time that the call has failed; a server that hangs is a failure that is retried and opens the circuit; three attempts end before the call does, so that the cache can still serve a stale response; for long polling and long transfers, set the options `attemptTimeout` and `totalTimeout` |
    /// | `breaker` | ``CircuitBreakerPlugin``, opened if four of five of the latest 100 requests, at least 10, have failed; breaks of 1 s, growing to 5 s | a dead server costs no attempts and no waits, and is noticed within seconds, whether an app makes few calls or a service makes many; with fewer failures, retries help more calls than a break |
    /// | `rateLimit` | ``RateLimitPlugin`` without a rate | after a 403, 429 or 503 with Retry-After, all calls to the server wait, not only the one that got it |
    /// | `concurrencyLimit` | ``ConcurrencyLimitPlugin``, adaptive from 200, with 1,000 requests in its queue | a slow server collects no more requests than it can work on; no fixed limit suits all servers |
    ///
    /// Other parts replace these plugins. Hedging and a fallback are parts of their own: hedging sends more requests,
    /// and only the application knows a substitute. Each part has new plugins: two providers share circuits and limits
    /// only if they are given the same part.
    ///
    /// - Parameter partition: the calls that share a circuit, a gate and a limit. With ``TrafficPartition/endpoint``,
    ///   an endpoint that fails or is slow does not affect the others of its server. The retry budget remains that of
    ///   a host, because it protects the server as a whole.
    /// - Returns: the part.
    public static func resilient(partition: TrafficPartition = .authority) -> StandardPart {
        let breaker = CircuitBreakerPlugin(
            failureRatio: 0.8,
            minimumCallCount: 10,
            window: .count(100),
            breakDuration: .seconds(1),
            maximumBreakDuration: .seconds(5),
            partition: partition
        )
        return StandardPart(replaceable: [
            .timeouts: [TimeoutPlugin(attempt: .seconds(8), total: .seconds(30), idle: .seconds(30))],
            .breaker: [breaker],
            .rateLimit: [RateLimitPlugin(partition: partition)],
            .concurrencyLimit: [ConcurrencyLimitPlugin(.adaptive(), partition: partition)],
        ])
    }

    /// A substitute for calls that have failed.
    public static func fallback(_ plugin: FallbackPlugin) -> StandardPart { StandardPart([.fallback: [plugin]]) }

    /// Second copies of slow requests, on the budget of the retries: `HedgingPlugin(budget: retry.budget)`.
    public static func hedging(_ plugin: HedgingPlugin) -> StandardPart { StandardPart([.hedging: [plugin]]) }

    /// Refusal of requests to a server that keeps failing.
    public static func breaker(_ plugin: CircuitBreakerPlugin) -> StandardPart { StandardPart([.breaker: [plugin]]) }

    /// Requests within a quota, and pauses that the server asks for.
    public static func rateLimit(_ plugin: RateLimitPlugin) -> StandardPart { StandardPart([.rateLimit: [plugin]]) }

    /// The number of exchanges at the same time.
    public static func concurrencyLimit(_ plugin: ConcurrencyLimitPlugin) -> StandardPart {
        StandardPart([.concurrencyLimit: [plugin]])
    }
}
