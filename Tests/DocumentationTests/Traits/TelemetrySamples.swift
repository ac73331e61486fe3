import Foundation
import Pipeline
import PipelineResilience
import PipelineTelemetry
import PipelineTesting
import Synchronization
import TestSupport
import Testing

#if Telemetry
import Metrics
#endif

/// The samples of the guide Telemetry.
enum TelemetrySamples {
    #if Telemetry
    static func plugins() -> PluginStack {
        // sample: plugins
        let plugins = PluginStack.standard(.telemetry)
        // end
        return plugins
    }
    #endif

    #if Telemetry
    static func report(_ provider: Provider<MultiTarget>) {
        // sample: gauges
        for plugin in provider.health {
            for (server, figures) in plugin.gauges {
                for (figure, value) in figures {
                    let dimensions = [("plugin", plugin.plugin), ("server", server)]
                    Gauge(label: "pipeline.\(figure.rawValue)", dimensions: dimensions).record(value)
                }
            }
        }
        // end
    }
    #endif

    // sample: template
    struct User: TargetType {
        let id: Int

        var baseURL: URL { Endpoint.url("https://api.shop.example") }
        var path: String { "users/\(id)" }
        var pathTemplate: String? { "/users/{id}" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
    }
    // end
}

@Suite("The samples of the guide Telemetry", .watched)
struct TelemetrySamplesTests {
    #if Telemetry
    @Test("The stack with metrics and traces has no finding, and no note about traces")
    func plugins() {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<MultiTarget>(transport: transport, plugins: [TelemetrySamples.plugins()])
        let description = provider.explain()
        #expect(description.findings.isEmpty)
        #expect(!"\(description)".contains("tracing-"))
        #expect(provider.plugins.contains { $0 is MetricsPlugin })
    }
    #endif

    #if Telemetry
    @Test("A gauge has each figure of a circuit, with its plugin and its server")
    func gauges() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<MultiTarget>(transport: transport, plugins: [CircuitBreakerPlugin()])
        _ = try await provider.request(MultiTarget(TelemetrySamples.User(id: 7)))
        let metrics = GaugeNames()
        withMetricsFactory(metrics) { TelemetrySamples.report(provider) }
        let place = "plugin=CircuitBreakerPlugin server=https://api.shop.example"
        #expect(metrics.names == ["pipeline.failureRatio \(place)", "pipeline.openness \(place)"])
    }
    #endif

    @Test("The template has no value, and a plugin sees that of a wrapped target")
    func template() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<MultiTarget>(transport: transport)
        let target = MultiTarget(TelemetrySamples.User(id: 7))
        #expect(target.pathTemplate == "/users/{id}")
        #expect(try await provider.request(target).request.path == "/users/7")
        #expect(URLTarget("https://api.shop.example/users/7").pathTemplate == nil)
    }
}

#if Telemetry
/// Notes the gauges that are made.
private final class GaugeNames: MetricsFactory {
    private let made = Mutex<Set<String>>([])

    var names: [String] { made.withLock { $0.sorted() } }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        let name = ([label] + dimensions.map { "\($0)=\($1)" }).joined(separator: " ")
        if !aggregate { made.withLock { _ = $0.insert(name) } }
        return NOOPMetricsHandler.instance
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        NOOPMetricsHandler.instance
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { NOOPMetricsHandler.instance }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
#endif
