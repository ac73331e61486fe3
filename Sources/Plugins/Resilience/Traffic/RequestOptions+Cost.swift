public import PipelineCore

private enum Cost: RequestOptions.Key {
    static let defaultValue = 1

    static func pluginOption(for value: Int) -> RequestOptions.PluginOption? { value == 1 ? nil : .cost }
    static func sharingText(for value: Int) -> String? { value == 1 ? nil : "\(value)" }
}

extension RequestOptions {
    /// The number of permits that the call takes from a ``RateLimitPlugin``, 1 to 1,000,000,000.
    ///
    /// Use it for a server that charges some operations more than others. Defaults to 1.
    public var cost: Int {
        get { self[Cost.self] }
        set {
            precondition((1...1_000_000_000).contains(newValue), "cost is \(newValue), not in 1...1,000,000,000")
            self[Cost.self] = newValue
        }
    }
}

extension RequestOptions.PluginOption {
    /// The plugin option for `RequestOptions.cost`.
    public static let cost = Self("cost", of: "RateLimitPlugin")
}
