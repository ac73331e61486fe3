public import Pipeline

private enum LogLevel: RequestOptionKey {
    static let defaultValue: LoggingPlugin.Level? = nil
}

extension RequestOptions {
    /// How much `LoggingPlugin` writes of this call, instead of its own level: more or less.
    ///
    /// ```swift
    /// try await provider.request(.upload, options: .init { $0.logLevel = .trace })
    /// ```
    ///
    /// The default logger and a handler get all of it; a logger of your own keeps its own level. Default `nil`: the level of
    /// the plugin.
    public var logLevel: LoggingPlugin.Level? {
        get { self[LogLevel.self] }
        set { self[LogLevel.self] = newValue }
    }
}
