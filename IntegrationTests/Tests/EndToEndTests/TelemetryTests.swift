import Pipeline
import PipelineTelemetry
import PipelineTesting
import TestSupport
import Testing

@Suite("telemetry of the end-to-end tests", .watched)
struct TelemetryTests {
    @Test("every provider traces and measures its calls")
    func plugins() {
        for provider in [Provider<Anything>(), Provider<Anything>(transport: ScriptedTransport([]))] {
            #expect(provider.plugins.contains { $0 is TracingPlugin })
            #expect(provider.plugins.contains { $0 is MetricsPlugin })
        }
    }

    @Test("telemetry that violates the conventions is an issue of the test")
    func violation() async throws {
        let transport = ScriptedTransport(
            always: .answer { request, context in
                context.report(.connection(PipelineExchange.Connection(protocolVersion: "SPDY")))
                return PipelineResponse(request: request, head: HTTPResponse(status: .ok))
            }
        )
        try await withKnownIssue {
            _ = try await Provider<URLTarget>(transport: transport).request(URLTarget("http://127.0.0.1/"))
        } matching: {
            "\($0)".contains("network.protocol.version is SPDY")
        }
    }
}
