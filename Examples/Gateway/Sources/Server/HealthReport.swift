import Foundation
import Hummingbird
import Pipeline
import PipelineResilience

/// The health of the gateway, for a load balancer and for people.
struct HealthReport: ResponseEncodable {
    let status: PluginHealth.Status
    /// What the plugins of the client report of each upstream, by the names of both.
    let upstreams: [String: [String: String]]

    init(_ client: UpstreamClient) {
        let health = client.provider.health
        func details(of url: URL) -> [String: String] {
            let origin = Self.origin(of: url)
            let details = health.compactMap { plugin in plugin.details[origin].map { (plugin.plugin, $0) } }
            return Dictionary(details) { first, _ in first }
        }
        let servers = client.upstreams
        upstreams = [
            "catalog": details(of: servers.catalog), "prices": details(of: servers.prices),
            "reviews": details(of: servers.reviews),
        ]
        // Once a break is over, neither is refusing: the gateway must get requests, because the next one is the probe.
        if health.isRefusing(servers.catalog) || health.isRefusing(servers.prices) {
            status = .unhealthy
        } else {
            status = health.contains { $0.status != .healthy } ? .degraded : .healthy
        }
    }

    /// Returns the name of a server as the plugins spell it, such as `http://127.0.0.1:8080`.
    private static func origin(of url: URL) -> String {
        let port = url.port.map { ":\($0)" } ?? ""
        return "\(url.scheme ?? "http")://\(url.host() ?? "")\(port)"
    }

    var response: EditedResponse<HealthReport> {
        EditedResponse(status: status == .unhealthy ? .serviceUnavailable : .ok, response: self)
    }
}
