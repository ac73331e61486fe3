import HTTPTypes
import Pipeline
import PipelineTesting
import TestSupport
import Testing

// sample: plugin
struct BusyPlugin: Stage.Intercept {
    func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        let response = try await next(request)
        guard response.statusCode == 503, request.method == .get else { return response }
        try await context.clock.sleep(for: .seconds(2))
        context.annotate("waited", by: self, duration: .seconds(2))
        return try await next(request)
    }
}
// end

@Suite("The plugin in the guide OwnPlugins", .watched)
struct BusyPluginSamples {
    typealias Library = ReadmeProgram.Library

    // sample: plugin test
    @Test("A 503 is retried once, after a pause")
    func retriesOnce() async throws {
        let (clock, script) = (ManualClock(), ScriptedTransport([.status(503), .status(200)]))
        let provider = Provider<Library>(transport: script, plugins: [BusyPlugin()], configuration: .init(clock: clock))
        async let response = provider.request(.book(id: 3))
        #expect(try await clock.advanceToNextSleeper() == .seconds(2))
        #expect(try await response.statusCode == 200)
        #expect(await PluginConformance { BusyPlugin() }.run() == [])
    }
    // end

    /// A plugin with a capability and a rule of its own, as the guide describes them in a sentence.
    private struct Audit: Stage.Process, CapabilityDeclaring {
        let capabilities: Set<PluginCapability> = [PluginCapability("audits")]
        var orderRules: [OrderRule] {
            let consequence = "cached responses are not audited"
            return [OrderRule("audit-inside-cache", capabilities, .inside, [.caches], consequence: consequence)]
        }

        func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {}
    }

    @Test("A rule of a plugin reports the plugin inside a cache, and not outside")
    func ownRule() {
        let cache = PluginStack.intercept(name: "cache", capabilities: [.caches]) { request, _, next in
            try await next(request)
        }
        func findings(_ plugins: [any PluginType]) -> [String] {
            Provider<Library>(transport: ScriptedTransport([]), plugins: plugins).explain().findings.map(\.id)
        }
        #expect(findings([cache, Audit()]) == ["audit-inside-cache"])
        #expect(findings([Audit(), cache]).isEmpty)
    }
}
