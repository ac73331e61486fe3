public import Pipeline

private enum TotalTimeout: RequestOptionKey {
    static let defaultValue: Duration? = nil

    static func pluginOption(for value: Duration?) -> RequestOptions.PluginOption? {
        value.map { _ in .totalTimeout }
    }
}

extension RequestOptions {
    /// The longest that the whole call may take, with all its attempts and waits; more than zero.
    ///
    /// ``TimeoutPlugin`` enforces it, and this wins over its `total`. Defaults to `nil`: the plugin's `total`.
    public var totalTimeout: Duration? {
        get { self[TotalTimeout.self] }
        set {
            if let newValue { precondition(newValue > .zero, "totalTimeout is \(newValue), not more than zero") }
            self[TotalTimeout.self] = newValue
        }
    }
}

extension RequestOptions.PluginOption {
    /// ``RequestOptions/totalTimeout``.
    public static let totalTimeout = Self("totalTimeout", of: "TimeoutPlugin")
}

extension TimeoutPlugin: OptionHandling {
    /// `totalTimeout`.
    public var handledOptions: [RequestOptions.PluginOption] { [.totalTimeout] }
}
