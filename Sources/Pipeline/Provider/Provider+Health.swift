/// A plugin that reports how the servers of its calls are doing, for ``Provider/health``.
public protocol HealthReporting: PluginType {
    /// Returns the current health; must return quickly.
    ///
    /// - Parameter clock: the clock of the provider.
    /// - Returns: the health, without the name of the plugin.
    func health(on clock: PipelineClock) -> PluginHealth
}

/// The health of one plugin, for a health endpoint of a server.
///
/// ```swift
/// let body = try JSONEncoder().encode(provider.health)
/// // One of two circuits is open:
/// // [{"plugin":"CircuitBreakerPlugin","status":"degraded","details":{"https://a.test":"open, next probe in 3.2 s"}}]
/// ```
public struct PluginHealth: Sendable, Hashable, Encodable {
    /// How well a plugin works, from the best to the worst.
    public enum Status: String, Sendable, Encodable {
        /// All calls are let through.
        case healthy
        /// Some calls wait or are refused.
        case degraded
        /// All calls are refused.
        case unhealthy
    }

    /// The name of the plugin.
    public internal(set) var plugin = ""
    /// How well the plugin works.
    public let status: Status
    /// The state of each server or limit, by its name; without secrets.
    public let details: [String: String]

    /// Describes the health of a plugin, whose name ``Provider/health`` adds.
    ///
    /// - Parameters:
    ///   - status: how well the plugin works.
    ///   - details: the state of each server or limit, by its name; it must not contain a secret.
    public init(_ status: Status, details: [String: String] = [:]) {
        self.status = status
        self.details = details
    }
}

extension Provider {
    /// The health of each plugin that is ``HealthReporting``, outermost first.
    public var health: [PluginHealth] {
        plugins.compactMap { plugin in
            guard let reporting = plugin as? any HealthReporting else { return nil }
            var health = reporting.health(on: engine.settings.clock)
            health.plugin = plugin.name
            return health
        }
    }
}
