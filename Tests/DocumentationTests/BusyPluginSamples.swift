import Pipeline
import PipelineTesting
import TestSupport
import Testing

// sample: first plugin
struct ClientPlugin: Stage.Prepare, Stage.DidFinish {
    let version: String

    func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        try request.setHeader(version, for: "X-Client")
    }

    func didFinish(_ outcome: Stage.Outcome, context: PipelineContext) {
        print(outcome.kind, outcome.duration)
    }
}
// end

// sample: error and value
struct LibraryPlugin: Stage.Prepare, Stage.Process {
    static let refused = PipelineError.Code(rawValue: "library.refused")
    private enum Attempts: PipelineContext.Key { static let defaultValue = 0 }
    private struct Refusal: Decodable { let error: String }

    func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        let attempt = context.update(Attempts.self) { count in
            count += 1
            return count
        }
        try request.setHeader("\(attempt)", for: "X-Attempt")
    }

    func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
        guard case .success(let response) = result, (try? response.map(Refusal.self)) != nil else { return }
        result = .failure(PipelineError(Self.refused, "the body has an error", response: response))
    }
}
// end

// sample: plugin
struct BusyPlugin: Stage.Intercept, CapabilityDeclaring {
    let capabilities: Set<PluginCapability> = [.retries]

    func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        var response = try await next(request)
        guard response.statusCode == 503, request.method == .get, request.body.isReplayable else { return response }
        let moment = (context.sharedOutcome?.end ?? context.clock.now).advanced(by: .seconds(2))
        if let deadline = context.latestDeadline, moment >= deadline { return response }
        await response.discardBody(context)
        if !context.isReplayed { try await context.clock.sleep(until: moment) }
        context.annotate("waited", by: self, duration: .seconds(2))
        return try await next(request)
    }
}
// end

@Suite("The plugins in the guide OwnPlugins", .watched)
struct BusyPluginSamples {
    typealias Library = ReadmeProgram.Library

    // sample: first plugin test
    @Test("Each request has the version of the app")
    func version() async throws {
        let script = ScriptedTransport([.status(200)])
        let provider = Provider<Library>(transport: script, plugins: [ClientPlugin(version: "3.1")])
        _ = try await provider.request(.book(id: 3))
        #expect(script.sent.first?.header("X-Client") == "3.1")
        #expect(await PluginConformance { ClientPlugin(version: "3.1") }.run() == [])
    }
    // end

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

    private func provider(_ transport: any Transport) -> Provider<Library> {
        // sample: first plugin in a provider
        let provider = Provider<Library>(transport: transport, plugins: [.standard { ClientPlugin(version: "3.1") }])
        // end
        return provider
    }

    @Test("The first plugin of the guide sets its header field in the standard stack, too")
    func client() async throws {
        let script = ScriptedTransport([.status(200)])
        _ = try await provider(script).request(.book(id: 3))
        #expect(script.sent.map { $0.header("X-Client") } == ["3.1"])
    }

    @Test("The plugin with an error and a value of its own counts attempts, fails, and follows the rules")
    func errorAndValue() async throws {
        let script = ScriptedTransport([.status(503), .status(200, body: #"{"error": "closed"}"#), .status(200)])
        let plugins: [any PluginType] = [RetryPlugin(backoff: .constant(.zero)), LibraryPlugin()]
        let provider = Provider<Library>(transport: script, plugins: plugins)
        let error = await #expect(throws: PipelineError.self) { try await provider.request(.book(id: 3)) }
        #expect(error?.code == LibraryPlugin.refused)
        #expect(script.sent.map { $0.header("X-Attempt") } == ["1", "2"])
        #expect(try await provider.request(.book(id: 3)).statusCode == 200)
        #expect(await PluginConformance { LibraryPlugin() }.run() == [])
    }

    @Test("The plugin that retries takes the place of RetryPlugin in the standard stack")
    func place() async throws {
        // sample: place
        let stack = PluginStack.standard
            .inserting(BusyPlugin(), before: RetryPlugin.self)
            .removing(RetryPlugin.self)
        // end
        #expect(Provider<Library>(transport: StubTransport(), plugins: [stack]).explain().findings.isEmpty)
        let both = Provider<Library>(transport: StubTransport(), plugins: [BusyPlugin(), .standard])
        #expect(both.explain().findings.map(\.id) == ["retry-inside-retry"])
    }

    @Test("The interceptor of the guide passes the request on, and follows the rules")
    func interceptor() async throws {
        // sample: interceptor
        let timing = PluginStack.intercept(name: "timing") { request, context, next in
            let start = context.clock.now
            let response = try await next(request)
            print(response.statusCode, start.duration(to: context.clock.now))
            return response
        }
        // end
        let provider = Provider<Library>(transport: ScriptedTransport([.status(200)]), plugins: [timing])
        #expect(try await provider.request(.book(id: 3)).statusCode == 200)
        #expect(await PluginConformance { timing }.run() == [])
    }

    /// A plugin with a capability and a rule of its own.
    private struct Audit: Stage.Process, CapabilityDeclaring {
        let capabilities: Set<PluginCapability> = [PluginCapability("audits")]
        // sample: rule
        var orderRules: [OrderRule] {
            let consequence = "cached responses are not audited"
            return [OrderRule("audit-inside-cache", capabilities, .inside, [.caches], consequence: consequence)]
        }
        // end

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
