import HTTPTypes
import Pipeline
import PipelineTesting
import Testing

// sample: plugin
/// Retries a GET once when the server responds with 503 Service Unavailable.
struct BusyPlugin: Stage.Intercept {
    let pause: Duration

    func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        let response = try await next(request)
        guard response.statusCode == 503, request.method == .get else { return response }
        try await context.clock.sleep(for: pause)
        return try await next(request)
    }
}
// end

@Suite("The plugin in the guide OwnPlugins")
struct BusyPluginSamples {
    typealias Library = ReadmeProgram.Library

    // sample: plugin test
    @Test("A 503 is retried once, after a pause")
    func retriesOnce() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(503), .status(200)])
        let plugin = BusyPlugin(pause: .seconds(2))
        let provider = Provider<Library>(transport: transport, plugins: [plugin], configuration: .init(clock: clock))
        async let response = provider.request(.book(id: 3))
        #expect(await clock.advanceToNextSleeper() == .seconds(2))
        #expect(try await response.statusCode == 200)
        #expect(transport.sent.count == 2)
    }

    @Test("BusyPlugin passes the conformance suite")
    func conformance() async {
        #expect(await PluginConformance { BusyPlugin(pause: .seconds(2)) }.run() == [])
    }
    // end
}
