public import Foundation

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
/// // [{"plugin":"CircuitBreakerPlugin","status":"degraded","details":{"https://a.test":"open, next probe in 3 s"},…}]
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
    /// The figures of each server or limit, by its name, to set the gauges of a metrics system.
    public let gauges: [String: [Gauge: Double]]

    /// Describes the health of a plugin, whose name ``Provider/health`` adds.
    ///
    /// - Parameters:
    ///   - status: how well the plugin works.
    ///   - details: the state of each server or limit, by its name; it must not contain a secret.
    ///   - gauges: the figures of each server or limit, by its name.
    public init(_ status: Status, details: [String: String] = [:], gauges: [String: [Gauge: Double]] = [:]) {
        self.status = status
        self.details = details
        self.gauges = gauges
    }
}

extension PluginHealth {
    /// What a figure of ``gauges`` measures.
    public struct Gauge: RawRepresentable, Sendable, Hashable, Encodable, CodingKeyRepresentable {
        /// The name, in lower camel case.
        public let rawValue: String

        /// Names a figure of a plugin of your own.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name as a key of a JSON object.
        public var codingKey: any CodingKey { rawValue.codingKey }

        /// Takes the name from a key of a JSON object.
        public init(codingKey: some CodingKey) { rawValue = codingKey.stringValue }

        /// The number of requests that may be in progress.
        public static let limit = Gauge(rawValue: "limit")
        /// The number of requests in progress.
        public static let inUse = Gauge(rawValue: "inUse")
        /// The number of calls that wait.
        public static let waiting = Gauge(rawValue: "waiting")
        /// The state of a circuit: 0 if it is closed, 0.5 if it is half-open, 1 if it refuses requests.
        public static let openness = Gauge(rawValue: "openness")
        /// The share of failures among the outcomes that a circuit remembers, `0...1`.
        public static let failureRatio = Gauge(rawValue: "failureRatio")
        /// For how many seconds no call passes.
        public static let closedSeconds = Gauge(rawValue: "closedSeconds")
        /// The share of requests that are not sent because the server refuses many of them, `0..<1`.
        public static let throttledShare = Gauge(rawValue: "throttledShare")
    }
}

extension [PluginHealth] {
    /// Returns whether requests to a server are refused now, before they are sent.
    ///
    /// That is so if the circuit of its origin is open, or if a plugin without any circuit refuses all calls. Circuits
    /// of single endpoints have names of their own in ``PluginHealth/gauges``.
    ///
    /// - Parameter url: a URL of the server, of which the scheme, host and port count.
    /// - Returns: whether a plugin refuses requests to the server.
    public func isRefusing(_ url: URL) -> Bool {
        let origin = (try? PipelineRequest(url: url.absoluteString))?.origin.description
        return contains { health in
            // Other servers may be all that an unhealthy plugin knows.
            let hasCircuits = health.gauges.values.contains { $0[.openness] != nil }
            guard hasCircuits else { return health.status == .unhealthy }
            return origin.map { health.gauges[$0]?[.openness] == 1 } ?? false
        }
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
