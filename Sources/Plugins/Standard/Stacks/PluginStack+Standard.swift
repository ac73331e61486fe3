public import Logging
public import PipelineCore

extension PluginType where Self == PluginStack {
    /// The plugins that nearly every API client needs, in the right order and with their defaults, without credentials.
    public static var standard: PluginStack { standard() }

    /// Returns the plugins that nearly every API client needs, in the right order and with their defaults.
    ///
    /// ```swift
    /// let provider = Provider<GitHub>(
    ///     transport: URLSessionTransport(),
    ///     plugins: [
    ///         .standard(.minimumDuration(.milliseconds(300)), logging: .info) {
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
    /// | ``MinimumDurationPlugin`` | only with the part `minimumDuration`; delays the call, not each attempt |
    /// | ``TimeoutPlugin`` | limits each attempt to 30 s, and the wait for each piece of a body to 60 s |
    /// | ``RequestIDPlugin`` | one id for all attempts |
    /// | ``RetryPlugin`` | outside the credentials, so that each attempt gets fresh ones |
    /// | `credentials` | |
    /// | ``DeduplicationPlugin`` | inside the credentials, so that no two users share a response |
    /// | ``GzipPlugin`` | decodes a shared response once |
    ///
    /// Parts add or replace plugins in the slots of `StandardPart`, whatever their order: those of this module, and
    /// `resilient`, `rateLimit`, `cookies`, `cache`, `signing`, `telemetry` and others of the other products. Plugins
    /// after the stack are inside it, and act on requests and responses as they are on the wire.
    ///
    /// - Parameters:
    ///   - parts: what the stack has besides, or in place of its own plugins.
    ///   - level: the level of detail in the log.
    ///   - logger: the logger to write to; `nil` for a logger `pipeline` that lets all lines pass.
    ///   - credentials: plugins that set credentials or, like ``HeadersPlugin``, other header fields, outermost first.
    /// - Returns: the stack; `inserting(_:before:)` adds plugins at other positions.
    public static func standard(
        _ parts: StandardPart...,
        logging level: LoggingPlugin.Level = .error,
        logger: Logger? = nil,
        @PluginStack.Builder credentials: () -> PluginStack = { PluginStack() }
    ) -> PluginStack {
        let own = StandardPart(replaceable: [
            .log: [LoggingPlugin(level: level, logger: logger)],
            .timeouts: [TimeoutPlugin(attempt: .seconds(30), idle: .seconds(60))],
            .requestID: [RequestIDPlugin()],
            .retries: [RetryPlugin()],
            .deduplication: [DeduplicationPlugin()],
            .compression: [GzipPlugin()],
        ])
        let credentials = credentials()
        // Empty braces must not remove the credentials of a part.
        let braces = credentials.plugins.isEmpty ? [] : [StandardPart([.credentials: credentials])]
        return PluginStack([own] + parts + braces)
    }
}
