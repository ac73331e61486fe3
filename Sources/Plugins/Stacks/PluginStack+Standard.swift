public import Pipeline

extension PluginType where Self == PluginStack {
    /// The plugins that nearly every API client needs, in the right order and with their defaults, without credentials.
    public static var standard: PluginStack { standard() }

    /// Returns the plugins that nearly every API client needs, in the right order and with their defaults.
    ///
    /// ```swift
    /// let provider = Provider<GitHub>(
    ///     transport: URLSessionTransport(),
    ///     plugins: [
    ///         .standard(logging: .info) {
    ///             AccessTokenPlugin { _ in try await session.token() }
    ///         }
    ///     ]
    /// )
    /// ```
    ///
    /// **Position**: each plugin is inside those of the rows above.
    ///
    /// | plugin | why here |
    /// |---|---|
    /// | ``LoggingPlugin`` | logs one line for a call that failed in the end, also if its value could not be decoded; sees decoded bodies |
    /// | ``MinimumDurationPlugin`` | delays the call, not each attempt; delays nothing unless `minimumDuration` is set |
    /// | ``FallbackPlugin`` | outside the timeouts and retries, so that they come before a substitute |
    /// | ``TimeoutPlugin`` | limits each attempt and the wait for each piece of a body; with `.resilient`, also the whole call |
    /// | ``RequestIDPlugin`` | one id for all attempts |
    /// | ``FallbackPlugin/stored`` | with `cache` only; outside retries, so that they come before a stale response |
    /// | ``RetryPlugin`` | outside the credentials, so that each attempt gets fresh ones |
    /// | ``HedgingPlugin`` | inside retries, so that a copy is not retried; outside the credentials, as for an attempt |
    /// | `authentication` | sets credentials |
    /// | `cookies` | inside the credentials, so that it also gets the cookies of a challenge |
    /// | `cache` | inside the credentials and the cookies, so that no two users share a response; outside the next, so that it compares the account |
    /// | ``CircuitBreakerPlugin`` | inside the cache, which responds while a circuit is open; outside the limits, so that a refused request takes no permit |
    /// | ``RateLimitPlugin`` | outside the concurrency limit, so that a request that waits for its turn holds no permit |
    /// | ``ConcurrencyLimitPlugin`` | holds a permit only during the exchange |
    /// | ``DeduplicationPlugin`` | inside the credentials, so that no two users share a response |
    /// | ``GzipPlugin`` | decodes a shared response once |
    ///
    /// Plugins after the stack are inside it, and act on requests and responses as they are on the wire.
    ///
    /// The plugins for servers in trouble are part of the stack if the resilience has them; see ``StackResilience``.
    ///
    /// - Parameters:
    ///   - resilience: how the stack treats servers that are slow, overloaded or down.
    ///   - level: the level of detail in the log.
    ///   - minimumDuration: how long a successful call takes at least, zero and up.
    ///   - idleTimeout: the longest pause within a body, more than zero.
    ///   - cookies: keeps cookies; `nil` to keep none.
    ///   - cache: stores responses; `nil` to store none.
    ///   - authentication: plugins that set credentials or, like ``HeadersPlugin``, other header fields, outermost
    ///     first.
    /// - Returns: the stack; `inserting(_:before:)` adds plugins at other positions.
    public static func standard(
        _ resilience: StackResilience = .basic,
        logging level: LoggingPlugin.Level = .error,
        minimumDuration: Duration = .zero,
        idleTimeout: Duration = .seconds(60),
        cookies: CookiePlugin? = nil,
        cache: CachePlugin? = nil,
        @PluginStackBuilder authentication: () -> PluginStack = { PluginStack() }
    ) -> PluginStack {
        PluginStack {
            LoggingPlugin(level: level)
            MinimumDurationPlugin(minimumDuration)
            if let fallback = resilience.fallback { fallback }
            resilience.timeout(idle: idleTimeout)
            RequestIDPlugin()
            if cache != nil { FallbackPlugin.stored }
            resilience.retry
            if resilience.hedging != .never {
                HedgingPlugin(
                    after: resilience.hedging,
                    partition: resilience.partition,
                    policy: resilience.retry.policy,
                    budget: resilience.retry.budget
                )
            }
            authentication()
            if let cookies { cookies }
            if let cache { cache }
            if let breaker = resilience.breaker { breaker }
            if let rateLimit = resilience.rateLimit { rateLimit }
            if let limit = resilience.concurrencyLimit { limit }
            DeduplicationPlugin()
            GzipPlugin()
        }
    }
}
