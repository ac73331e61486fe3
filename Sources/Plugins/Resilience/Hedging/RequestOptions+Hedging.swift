public import PipelineCore

private enum Hedging: RequestOptions.Key {
    static let defaultValue: HedgingDelay? = nil

    static func pluginOption(for value: HedgingDelay?) -> RequestOptions.PluginOption? {
        value.flatMap { $0 == .never ? nil : .hedging }
    }
}

extension RequestOptions {
    /// The delay of ``HedgingPlugin`` for this request; ``HedgingDelay/never`` for no further copy.
    ///
    /// Defaults to `nil`: the delay of the plugin applies, unless the option `retry` allows a single attempt, which
    /// then is the only copy.
    public var hedging: HedgingDelay? {
        get { self[Hedging.self] }
        set { self[Hedging.self] = newValue }
    }
}

extension RequestOptions.PluginOption {
    /// The plugin option for `RequestOptions.hedging`.
    public static let hedging = Self("hedging", of: "HedgingPlugin")
}

extension HedgingPlugin: OptionHandling {
    /// The option that this plugin handles: `hedging`.
    public var handledOptions: [RequestOptions.PluginOption] { [.hedging] }
}
