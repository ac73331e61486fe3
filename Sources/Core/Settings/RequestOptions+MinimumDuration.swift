private enum MinimumDuration: RequestOptionKey {
    static let defaultValue: Duration? = nil

    static func pluginOption(for value: Duration?) -> RequestOptions.PluginOption? {
        if let value, value > .zero { .minimumDuration } else { nil }
    }
}

extension RequestOptions {
    /// The shortest time from the start of the call to its result, zero and up; zero means no delay.
    ///
    /// Advisory: MinimumDurationPlugin delays the result, and this value overrides its own minimum. A failure is
    /// delayed only if the plugin applies to all results. Defaults to `nil`: the plugin's minimum.
    public var minimumDuration: Duration? {
        get { self[MinimumDuration.self] }
        set {
            if let newValue { precondition(newValue >= .zero, "minimumDuration is \(newValue), less than zero") }
            self[MinimumDuration.self] = newValue
        }
    }
}

extension RequestOptions.PluginOption {
    /// The option ``RequestOptions/minimumDuration``, which MinimumDurationPlugin handles.
    public static let minimumDuration = Self("minimumDuration", of: "MinimumDurationPlugin")
}
