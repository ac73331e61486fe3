import Foundation
import Pipeline
import PipelineCaching
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("FallbackPlugin", .tags(.concurrent), .watched)
struct FallbackPluginTests {
    private typealias Step = ScriptedTransport.Step

    private static let plugin = FallbackPlugin { outcome in
        PipelineResponse(request: outcome.request, statusCode: 200, data: Data("fallback".utf8))
    }

    private func provider(_ step: Step, _ plugins: any PluginType...) -> Provider<Ask> {
        Provider(
            transport: ScriptedTransport(always: step),
            plugins: plugins,
            configuration: .init(clock: ManualClock())
        )
    }

    @Test("The plugin passes the conformance suite, also if it replaces every failure")
    func conformance() async {
        let violations = await PluginConformance { FallbackPlugin(for: FallbackPolicy { _ in true }) { _ in nil } }
            .run()
        #expect(violations == [])
        #expect(await PluginConformance { Self.plugin }.run() == [])
    }

    @Test(
        "A failure that a better day would not have brought is replaced by the response of the closure",
        arguments: [
            PipelineError.Code.offline, .dns, .connect(.refused), .connectionLost, .truncated, .timeout(.attempt),
            .timeout(.head), .circuitOpen, .limit(.concurrency),
            .limit(.rate),
        ]
    )
    func failures(code: PipelineError.Code) async throws {
        let response = try await provider(.failure(code), Self.plugin).request(Ask())
        #expect(try response.mapString() == "fallback")
        #expect(response.isFallback)
        #expect(response.source == .fallback)
        #expect(response.exchanges.map(\.failure) == [code])
        #expect(response.exchanges.flatMap(\.annotations).map(\.event) == ["served"])
    }

    @Test(
        "Any other failure is the result",
        arguments: [
            PipelineError.Code.tls(.certificate), .encoding, .limit(.bodyBytes), .malformedResponse, .clientClosed,
        ]
    )
    func otherFailures(code: PipelineError.Code) async throws {
        let error = await #expect(throws: PipelineError.self) {
            try await provider(.failure(code), Self.plugin).request(Ask())
        }
        #expect(error?.code == code)
    }

    @Test("A response with a status of the policy is replaced, and no other", arguments: [500, 502, 503, 504])
    func statuses(status: Int) async throws {
        let response = try await provider(.status(status), Self.plugin).request(Ask())
        #expect(response.isFallback)
        for other in [200, 404, 429, 501] {
            let response = try await provider(.status(other), Self.plugin).request(Ask())
            #expect(response.statusCode == other)
            #expect(!response.isFallback)
            #expect(response.source == .network)
        }
    }

    @Test("An unsafe method is replaced only if the policy names it")
    func methods() async throws {
        for method in [HTTPRequest.Method.post, .put, .delete, .patch] {
            #expect(try await provider(.status(503), Self.plugin).request(Ask(method: method)).statusCode == 503)
        }
        let plugin = FallbackPlugin(for: FallbackPolicy(methods: [.post])) {
            PipelineResponse(request: $0.request, statusCode: 202)
        }
        #expect(try await provider(.status(503), plugin).request(Ask(method: .post)).statusCode == 202)
        #expect(try await provider(.status(503), plugin).request(Ask()).statusCode == 503)
    }

    @Test("The closure sees the outcome, decides about it, and keeps it by returning nil")
    func deciding() async throws {
        let plugin = FallbackPlugin(for: FallbackPolicy { $0.response?.statusCode == 404 ? true : nil }) { outcome in
            guard let response = outcome.response, response.statusCode == 404 else { return nil }
            return PipelineResponse(request: outcome.request, statusCode: 200, data: response.data)
        }
        #expect(try await provider(.status(404, body: "seen"), plugin).request(Ask()).mapString() == "seen")
        #expect(try await provider(.status(503), plugin).request(Ask()).statusCode == 503)
        let error = await #expect(throws: PipelineError.self) {
            try await provider(.failure(.dns), plugin).request(Ask())
        }
        #expect(error?.code == .dns)
    }

    @Test("A cancelled call is not replaced, even if the policy would do so")
    func cancellation() async throws {
        let plugin = FallbackPlugin(for: FallbackPolicy { _ in true }) {
            PipelineResponse(request: $0.request, statusCode: 200)
        }
        let transport = ScriptedTransport(always: .hang)
        let provider = Provider<Ask>(transport: transport, plugins: [plugin])
        let call = Task { try await provider.request(Ask()) }
        try await transport.waitForRequests()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test("The body of a replaced response is read, so that its connection can be reused, also in a streamed call")
    func streams() async throws {
        let isRead = Mutex(false)
        let body = PipelineBody.stream(
            AsyncStream<Data>(unfolding: {
                isRead.withLock { $0 = true }
                return nil
            })
        )
        let response = try await provider(.status(503, body: body), Self.plugin).stream(Ask())
        var received = Data()
        for try await chunk in response.body { received += chunk }
        #expect(received == Data("fallback".utf8))
        #expect(isRead.withLock { $0 })
    }

    @Test("A download is not replaced")
    func download() async throws {
        let folder = try TemporaryFolder()
        let ask = Ask(task: .downloadDestination(.file(folder.file("file"))))
        #expect(try await provider(.status(503), Self.plugin).request(ask).statusCode == 503)
    }

    @Test("Outside a plugin that retries, it replaces the last outcome; explain() reports the other order")
    func order() async throws {
        let retry = RetryPlugin(backoff: .constant(.zero))
        let response = try await provider(.status(503), Self.plugin, retry).request(Ask())
        #expect(response.isFallback)
        #expect(response.exchanges.count == 3)
        func findings(_ plugins: any PluginType...) -> [String] {
            Provider<Ask>(transport: ScriptedTransport([]), plugins: plugins).explain().findings.map(\.id)
        }
        #expect(findings(Self.plugin, retry) == [])
        #expect(findings(retry, Self.plugin) == ["fallback-inside-retry"])
    }

    @Test("A stale response of the cache says that it is a fallback, and a plugin outside makes one if there is none")
    func stored() async throws {
        let fields = CacheBench.control("max-age=60, stale-if-error=600")
        let transport = ScriptedTransport { _, index in
            index == 0 ? .status(200, headers: fields, body: "0") : .failure(.connectionLost)
        }
        let bench = CacheBench(transport, outside: [Self.plugin, StaleFallbackPlugin()])
        #expect(try await bench.response().isFallback == false)
        bench.clock.advance(by: .seconds(100))
        let stale = try await bench.response()
        #expect(try stale.mapString() == "0")
        #expect(stale.isFallback)
        #expect(stale.source == .cache)
        bench.clock.advance(by: .seconds(600))
        #expect(try await bench.response().mapString() == "fallback")
    }
}
