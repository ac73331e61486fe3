public import PipelineCore

private enum TotalTimeout: RequestOptions.Key {
    static let defaultValue: Duration? = nil

    static func pluginOption(for value: Duration?) -> RequestOptions.PluginOption? {
        value.map { _ in .totalTimeout }
    }
}

extension RequestOptions {
    /// The longest time that the whole call may take, including all attempts and waits; more than zero.
    ///
    /// ``TimeoutPlugin`` enforces it. It takes precedence over the plugin's `total`. Defaults to `nil`: the plugin's
    /// `total` applies.
    public var totalTimeout: Duration? {
        get { self[TotalTimeout.self] }
        set {
            if let newValue { precondition(newValue > .zero, "totalTimeout is \(newValue), not more than zero") }
            self[TotalTimeout.self] = newValue
        }
    }
}

extension RequestOptions.PluginOption {
    /// The plugin option for ``RequestOptions/totalTimeout``.
    public static let totalTimeout = Self("totalTimeout", of: "TimeoutPlugin")
}

extension TimeoutPlugin: OptionHandling {
    /// The only option that the plugin handles is `totalTimeout`.
    public var handledOptions: [RequestOptions.PluginOption] { [.totalTimeout] }
}
