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
    /// | ``TimeoutPlugin`` | limits the wait for each piece of a body, and the whole call if `totalTimeout` is set |
    /// | ``RequestIDPlugin`` | one id for all attempts |
    /// | ``FallbackPlugin/stored`` | with `cache` only; outside retries, so that they come before a stale response |
    /// | ``RetryPlugin`` | outside the credentials, so that each attempt gets fresh ones |
    /// | `authentication` | sets credentials |
    /// | `cookies` | inside the credentials, so that it also gets the cookies of a challenge |
    /// | `cache` | inside the credentials and the cookies, so that no two users share a response; outside the next, so that it compares the account |
    /// | ``DeduplicationPlugin`` | inside the credentials, so that no two users share a response |
    /// | ``GzipPlugin`` | decodes a shared response once |
    /// | `inner` | acts on requests and responses as they are on the wire |
    ///
    /// - Parameters:
    ///   - level: the level of detail in the log.
    ///   - minimumDuration: how long a successful call takes at least, zero and up.
    ///   - idleTimeout: the longest pause within a body, more than zero.
    ///   - cookies: keeps cookies; `nil` to keep none.
    ///   - cache: stores responses; `nil` to store none.
    ///   - authentication: plugins that set credentials or, like ``HeadersPlugin``, other header fields, outermost
    ///     first.
    ///   - inner: plugins inside all others, outermost first.
    /// - Returns: the stack; `inserting(_:before:)` adds plugins at other positions.
    public static func standard(
        logging level: LoggingPlugin.Level = .error,
        minimumDuration: Duration = .zero,
        idleTimeout: Duration = .seconds(60),
        cookies: CookiePlugin? = nil,
        cache: CachePlugin? = nil,
        @PluginStackBuilder authentication: () -> PluginStack = { PluginStack() },
        @PluginStackBuilder inner: () -> PluginStack = { PluginStack() }
    ) -> PluginStack {
        PluginStack {
            LoggingPlugin(level: level)
            MinimumDurationPlugin(minimumDuration)
            TimeoutPlugin(idle: idleTimeout)
            RequestIDPlugin()
            if cache != nil { FallbackPlugin.stored }
            RetryPlugin()
            authentication()
            if let cookies { cookies }
            if let cache { cache }
            DeduplicationPlugin()
            GzipPlugin()
            inner()
        }
    }
}
