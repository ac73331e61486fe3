public import Pipeline

private enum AdditionalTimeout: RequestOptionKey {
    static let defaultValue: Duration? = nil

    static func pluginOption(for value: Duration?) -> RequestOptions.PluginOption? {
        if let value, value > .zero { .additionalTimeout } else { nil }
    }
}

extension RequestOptions {
    /// The shortest time from the start of the call to its success; zero for no delay.
    ///
    /// ``MinimumDurationPlugin`` delays the result, and this wins over its minimum. A failure is not delayed unless the plugin applies
    /// to all results, ``MinimumDurationPlugin/Results/always``. Defaults to `nil`: the plugin's minimum.
    public var additionalTimeout: Duration? {
        get { self[AdditionalTimeout.self] }
        set {
            if let newValue { precondition(newValue >= .zero, "additionalTimeout is \(newValue), less than zero") }
            self[AdditionalTimeout.self] = newValue
        }
    }
}

extension RequestOptions.PluginOption {
    /// ``RequestOptions/additionalTimeout``.
    public static let additionalTimeout = Self("additionalTimeout", of: "MinimumDurationPlugin")
}

extension MinimumDurationPlugin: OptionHandling {
    /// `additionalTimeout`.
    public var handledOptions: [RequestOptions.PluginOption] { [.additionalTimeout] }
}
