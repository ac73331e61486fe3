public import Pipeline

extension PluginType where Self == PluginStack {
    /// The plugins that nearly every client of an API wants, in the right order and with their defaults, without credentials.
    public static var standard: PluginStack { standard() }

    /// The plugins that nearly every client of an API wants, in the right order and with their defaults.
    ///
    /// ```swift
    /// Provider<GitHub>(
    ///     plugins: [
    ///         .standard {
    ///             AccessTokenPlugin { _ in try await session.token() }
    ///         } inner: {
    ///             FaultInjection()
    ///         }
    ///     ]
    /// )
    /// ```
    ///
    /// | plugin | why here |
    /// |---|---|
    /// | ``LoggingPlugin`` | one line for a call that failed in the end, also for a value that does not decode; decoded bodies |
    /// | ``MinimumDurationPlugin`` | holds the call, not each attempt; nothing is held unless `minimumDuration` says so |
    /// | ``TimeoutPlugin`` | bounds the wait for each piece of a body, and the whole call where `totalTimeout` says so |
    /// | ``RequestIDPlugin`` | one id for all attempts |
    /// | ``RetryPlugin`` | outside the credentials, so that each attempt has fresh ones |
    /// | `authentication` | what sets credentials |
    /// | ``DeduplicationPlugin`` | inside the credentials, so that no two users share a response |
    /// | ``GzipPlugin`` | a shared response is decoded once |
    /// | `inner` | what acts on requests and responses as they are on the wire |
    ///
    /// - Parameters:
    ///   - level: what is logged.
    ///   - minimumDuration: how long a call that succeeds takes at least, zero and up.
    ///   - idleTimeout: how long a body may pause, more than zero.
    ///   - authentication: plugins that set credentials, and other header fields, as ``HeadersPlugin`` does, outermost first.
    ///   - inner: plugins inside all others, outermost first.
    /// - Returns: the stack; `inserting(_:before:)` adds to it elsewhere.
    public static func standard(
        logging level: LoggingPlugin.Level = .error,
        minimumDuration: Duration = .zero,
        idleTimeout: Duration = .seconds(60),
        @PluginStackBuilder authentication: () -> PluginStack = { PluginStack() },
        @PluginStackBuilder inner: () -> PluginStack = { PluginStack() }
    ) -> PluginStack {
        PluginStack {
            LoggingPlugin(level: level)
            MinimumDurationPlugin(minimumDuration)
            TimeoutPlugin(idle: idleTimeout)
            RequestIDPlugin()
            RetryPlugin()
            authentication()
            DeduplicationPlugin()
            GzipPlugin()
            inner()
        }
    }
}
