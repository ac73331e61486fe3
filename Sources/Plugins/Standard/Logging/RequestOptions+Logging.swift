public import PipelineCore

private enum LogLevel: RequestOptions.Key {
    static let defaultValue: LoggingPlugin.Level? = nil

    static func pluginOption(for value: LoggingPlugin.Level?) -> RequestOptions.PluginOption? {
        if let value, value != .off { .logLevel } else { nil }
    }
}

private enum AvoidLogError: RequestOptions.Key {
    static let defaultValue = false
}

extension RequestOptions {
    /// How much ``LoggingPlugin`` writes about this call, instead of its own level.
    ///
    /// ```swift
    /// try await provider.request(.upload, options: .init { $0.logLevel = .trace })
    /// ```
    ///
    /// The default logger and a handler get all of it; a logger of your own still applies its own level. Defaults to
    /// `nil`, which uses the level of the plugin.
    public var logLevel: LoggingPlugin.Level? {
        get { self[LogLevel.self] }
        set { self[LogLevel.self] = newValue }
    }

    /// Whether ``LoggingPlugin`` leaves out the line of a failure or cancellation of the call.
    ///
    /// Use it for expected failures. The lines of the exchanges are still written. No plugin has to handle the option,
    /// because nothing is written without the plugin anyway. Defaults to `false`.
    public var avoidLogError: Bool {
        get { self[AvoidLogError.self] }
        set { self[AvoidLogError.self] = newValue }
    }
}

extension RequestOptions.PluginOption {
    /// The plugin option for ``RequestOptions/logLevel``.
    public static let logLevel = Self("logLevel", of: "LoggingPlugin")
}

extension LoggingPlugin: OptionHandling {
    /// The option that this plugin handles: `logLevel`.
    public var handledOptions: [RequestOptions.PluginOption] { [.logLevel] }
}

extension OptionsModifying {
    /// Returns a copy whose failure ``LoggingPlugin`` does not write.
    public func avoidLogError() -> Self { options { $0.avoidLogError = true } }
}
