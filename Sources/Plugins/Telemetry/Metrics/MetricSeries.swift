#if Telemetry
/// A metric: its name and its attributes.
struct MetricSeries: Hashable, Sendable {
    /// The names of the plugin's metrics, the plugin's own ones without the prefix.
    enum Name: String {
        case requestDuration = "http.client.request.duration"
        case activeRequests = "http.client.active_requests"
        case requestBodySize = "http.client.request.body.size"
        case responseBodySize = "http.client.response.body.size"
        case calls
        case callDuration = "call.duration"
        case activeCalls = "calls.active"
        case joinedCalls = "calls.joined"
        case unsentCalls = "calls.unsent"
        case cachedCalls = "calls.cached"
        case connectionWait = "connection.wait"
        case retries
        case redirects
        case pluginEvents = "plugin.events"
        case pluginWait = "plugin.wait"

        /// Whether OpenTelemetry defines the metric, so that it has no prefix.
        var isStandard: Bool {
            switch self {
            case .requestDuration, .activeRequests, .requestBodySize, .responseBodySize: true
            default: false
            }
        }
    }

    let name: Name
    /// `nil` for the series that holds the values for which no series is left.
    var attributes: MetricAttributes?

    var dimensions: [(String, String)] {
        attributes?.dimensions ?? [("otel.metric.overflow", "true")]
    }

    /// The series that holds values for which no series is left.
    var overflow: MetricSeries { MetricSeries(name: name, attributes: nil) }
}

/// The attributes of a metric; those without a value are left out.
struct MetricAttributes: Hashable, Sendable {
    let method: String
    var server: ObservedServer?
    var scheme: String?
    var template: String?
    var target: String?
    var statusCode: Int?
    var errorType: String?
    var protocolVersion: String?
    var cache: String?
    var plugin: String?
    var event: String?

    var dimensions: [(String, String)] {
        let optional: [(String, String?)] = [
            ("server.address", server?.address),
            ("server.port", server.map { "\($0.port)" }),
            ("url.scheme", scheme),
            ("url.template", template),
            ("http.response.status_code", statusCode.map { "\($0)" }),
            ("error.type", errorType),
            ("network.protocol.version", protocolVersion),
            ("pipeline.target", target),
            ("pipeline.cache", cache),
            ("pipeline.plugin", plugin),
            ("pipeline.event", event),
        ]
        return [("http.request.method", method)] + optional.compactMap { name, value in value.map { (name, $0) } }
    }
}
#endif
