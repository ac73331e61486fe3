public import Pipeline

private enum Priority: RequestOptionKey {
    static let defaultValue: TrafficPriority? = nil

    static func pluginOption(for value: TrafficPriority?) -> RequestOptions.PluginOption? {
        value == nil || value == .normal ? nil : .priority
    }
}

private enum Cost: RequestOptionKey {
    static let defaultValue = 1

    static func pluginOption(for value: Int) -> RequestOptions.PluginOption? { value == 1 ? nil : .cost }
}

extension RequestOptions {
    /// The priority of the call in the queues of ``ConcurrencyLimitPlugin`` and ``RateLimitPlugin``.
    ///
    /// Defaults to ``TrafficPriority/normal``. For calls with `isTokenRequest`, and those that a ``TokenRefreshPlugin``
    /// makes to refresh a token, it defaults to ``TrafficPriority/high``, because others wait for them.
    public var priority: TrafficPriority {
        get { self[Priority.self] ?? (isTokenRequest || TokenRefreshMark.isRefreshing ? .high : .normal) }
        set { self[Priority.self] = newValue }
    }

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
    /// The plugin option for ``RequestOptions/priority``.
    public static let priority = Self("priority", of: "ConcurrencyLimitPlugin or RateLimitPlugin")
    /// The plugin option for ``RequestOptions/cost``.
    public static let cost = Self("cost", of: "RateLimitPlugin")
}
