import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineTesting
import TestSupport
import Testing

/// The samples of the guide Telemetry.
enum TelemetrySamples {
    #if Metrics && Tracing
    static func plugins() -> PluginStack {
        // sample: plugins
        let plugins: PluginStack = [TracingPlugin(), MetricsPlugin(), .standard, TracingPlugin.Propagation()]
        // end
        return plugins
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
    #if Metrics && Tracing
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
