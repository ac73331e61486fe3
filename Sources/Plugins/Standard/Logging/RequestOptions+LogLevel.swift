public import PipelineCore

private enum LogLevel: RequestOptionKey {
    static let defaultValue: LoggingPlugin.Level? = nil

    static func pluginOption(for value: LoggingPlugin.Level?) -> RequestOptions.PluginOption? {
        if let value, value != .off { .logLevel } else { nil }
    }
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
}

extension RequestOptions.PluginOption {
    /// The plugin option for ``RequestOptions/logLevel``.
    public static let logLevel = Self("logLevel", of: "LoggingPlugin")
}

extension LoggingPlugin: OptionHandling {
    /// The option that this plugin handles: `logLevel`.
    public var handledOptions: [RequestOptions.PluginOption] { [.logLevel] }
}
