/// The importance of a call compared with other calls that wait for the same permits.
///
/// ```swift
/// try await provider.request(.report, options: .init { $0.priority = .low })
/// ```
///
/// Calls with a higher priority go first, but each lower priority with waiting calls gets at least one permit in ten.
public struct TrafficPriority: Sendable, Hashable, Comparable {
    private let rank: Int

    /// The priority of work that can wait, such as prefetching.
    public static let low = TrafficPriority(rank: 0)
    /// The priority of calls that set none.
    public static let normal = TrafficPriority(rank: 1)
    /// The priority of calls that a user waits for.
    public static let high = TrafficPriority(rank: 2)

    /// The priority of calls that the current task makes and that set none.
    ///
    /// A plugin sets it for code of its user for which other calls wait, such as the refresh of a token.
    @TaskLocal public static var ofTask = TrafficPriority.normal

    /// Returns whether the first priority is lower than the second.
    public static func < (lhs: TrafficPriority, rhs: TrafficPriority) -> Bool { lhs.rank < rhs.rank }
}

private enum Priority: RequestOptions.Key {
    static let defaultValue: TrafficPriority? = nil

    static func pluginOption(for value: TrafficPriority?) -> RequestOptions.PluginOption? {
        value == nil || value == .normal ? nil : .priority
    }

    static func sharingText(for value: TrafficPriority?) -> String? {
        value.map { $0 == .low ? "low" : $0 == .normal ? "normal" : "high" }
    }
}

extension RequestOptions {
    /// The priority of the call in the queues of plugins that make calls wait.
    ///
    /// Defaults to ``TrafficPriority/ofTask``, which is ``TrafficPriority/normal`` except for code that refreshes a
    /// token. For calls with ``isTokenRequest``, it defaults to ``TrafficPriority/high``, because others wait for them.
    public var priority: TrafficPriority {
        get { self[Priority.self] ?? (isTokenRequest ? .high : .ofTask) }
        set { self[Priority.self] = newValue }
    }
}

extension RequestOptions.PluginOption {
    /// The plugin option for ``RequestOptions/priority``.
    public static let priority = Self("priority", of: "ConcurrencyLimitPlugin or RateLimitPlugin")
}
