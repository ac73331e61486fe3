import Pipeline

/// How the plugins of `PluginStack.standard` treat servers that are slow, overloaded or down.
///
/// ```swift
/// let provider = Provider<Shop>(transport: transport, plugins: [.standard(.resilient)])
///
/// var resilience = StackResilience.resilient
/// resilience.rateLimit = RateLimitPlugin(RateLimit(100, per: .seconds(1)))
/// resilience.hedging = .percentile(0.95)
/// let other = Provider<Shop>(transport: transport, plugins: [.standard(resilience)])
/// ```
///
/// **Defaults**
///
/// | setting | `.basic` | `.resilient` | why |
/// |---|---|---|---|
/// | `totalTimeout` | none | 30 s | a caller learns in time that the call has failed; for a long transfer, set the options `totalTimeout` and `attemptTimeout` |
/// | `attemptTimeout` | 30 s | 8 s, at most `totalTimeout` | a server that hangs is a failure that is retried and opens the circuit; with 8 s, three attempts end before the call does, so that the cache can still serve a stale response; for long polling, set the option `attemptTimeout`, and with `.resilient` also `totalTimeout` |
/// | `retry` | ``RetryPlugin`` | the same | safe without settings: idempotent requests, a budget, Retry-After |
/// | `hedging` | `.never` | `.never` | it sends more requests; turn it on for reads with rare slow responses |
/// | `fallback` | none | none | only the application knows an acceptable substitute |
/// | `breaker` | none | ``CircuitBreakerPlugin``, opened if four of five of the latest 100 requests, at least 10, have failed; breaks of 1 s, growing to 5 s | a dead server costs no attempts and no waits, and is noticed within seconds, whether an app makes few calls or a service makes many; with fewer failures, retries help more calls than a break |
/// | `rateLimit` | none | ``RateLimitPlugin`` without a rate | after a 403, 429 or 503 with Retry-After, all calls to the server wait, not only the one that got it |
/// | `concurrencyLimit` | none | ``ConcurrencyLimitPlugin``, adaptive from 200, with 1,000 requests in its queue | a slow server collects no more requests than it can work on; no fixed limit suits all servers |
///
/// ``resilient`` makes new plugins each time: two providers share circuits and limits only if they are given the same
/// value.
public struct StackResilience: Sendable {
    /// The longest time that a call may take; `nil` for no limit.
    public var totalTimeout: Duration?
    /// The longest time that an exchange may take; `nil` for no limit.
    public var attemptTimeout: Duration? = .seconds(30)
    /// The plugin that retries.
    public var retry = RetryPlugin()
    /// When a second copy of a request is sent.
    public var hedging = HedgingDelay.never
    /// Responds in place of a call that has failed; `nil` for no plugin.
    public var fallback: FallbackPlugin?
    /// Refuses calls to a server that keeps failing; `nil` for no plugin.
    public var breaker: CircuitBreakerPlugin?
    /// Keeps calls within a quota, and holds them back if the server asks for it; `nil` for no plugin.
    public var rateLimit: RateLimitPlugin?
    /// Limits the number of exchanges at the same time; `nil` for no plugin.
    public var concurrencyLimit: ConcurrencyLimitPlugin?

    /// The calls whose latencies decide when a second copy is sent.
    private(set) var partition = TrafficPartition.authority

    private init() {}

    /// Retries only, the default.
    public static var basic: StackResilience { StackResilience() }

    /// Timeouts, retries, a circuit breaker, a gate after Retry-After, and a concurrency limit.
    public static var resilient: StackResilience { resilient() }

    /// Returns the same with circuits, gates, limits and hedging of other partitions.
    ///
    /// With ``TrafficPartition/endpoint``, an endpoint that fails or is slow does not affect the others of its server.
    /// The retry budget remains that of a host, because it protects the server as a whole.
    ///
    /// - Parameter partition: the calls that share a circuit, a gate, a limit, and the latencies for hedging.
    /// - Returns: the timeouts and plugins.
    public static func resilient(partition: TrafficPartition = .authority) -> StackResilience {
        var resilience = StackResilience()
        resilience.partition = partition
        resilience.totalTimeout = .seconds(30)
        resilience.attemptTimeout = .seconds(8)
        resilience.breaker = CircuitBreakerPlugin(
            failureRatio: 0.8,
            minimumCallCount: 10,
            window: .count(100),
            breakDuration: .seconds(1),
            maximumBreakDuration: .seconds(5),
            partition: partition
        )
        resilience.rateLimit = RateLimitPlugin(partition: partition)
        resilience.concurrencyLimit = ConcurrencyLimitPlugin(.adaptive(), partition: partition)
        return resilience
    }

    /// Returns the plugin that limits durations.
    func timeout(idle: Duration) -> TimeoutPlugin {
        let total = totalTimeout
        return TimeoutPlugin(
            attempt: attemptTimeout.map { min($0, total ?? $0) },
            total: total,
            idle: min(idle, total ?? idle)
        )
    }
}
