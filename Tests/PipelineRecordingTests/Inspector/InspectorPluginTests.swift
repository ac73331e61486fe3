import Foundation
import Pipeline
import PipelineCaching
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineInspector

@Suite("InspectorPlugin", .watched)
struct InspectorPluginTests {
    private let folder: TemporaryFolder
    private let clock = ManualClock()

    init() throws { folder = try TemporaryFolder() }

    private var file: URL { folder.url.appending(path: "calls.html") }

    private func provider(
        _ inspector: InspectorPlugin,
        _ plugins: [any PluginType] = [],
        _ steps: [ScriptedTransport.Step],
        redirects: RedirectPolicy = .standard
    ) -> Provider<URLTarget> {
        Provider(
            transport: ScriptedTransport(steps),
            plugins: [inspector] + plugins,
            configuration: .init(redirects: redirects, clock: clock, timeline: true)
        )
    }

    private func page(_ inspector: InspectorPlugin) async throws -> InspectedPage {
        try InspectedPage.of(try await inspector.page())
    }

    private func kept(_ inspector: InspectorPlugin) throws -> [InspectedPage.Call] {
        try JSONDecoder().decode(InspectedPage.self, from: inspector.calls.document(isLive: false)).calls
    }

    @Test("A page has each exchange of a call, with its attempt, its hop, its bodies, and the spans of the call")
    func exchanges() async throws {
        let inspector = InspectorPlugin(.file(file))
        let clock = clock
        let steps: [ScriptedTransport.Step] = [
            .status(503), .status(302, headers: [.location: "/b"]),
            .answer { request, context in
                context.report(.connectionAwaited)
                clock.advance(by: .milliseconds(10))
                context.report(.connection())
                clock.advance(by: .milliseconds(20))
                context.report(.phases { $0.requestSent = context.clock.now })
                clock.advance(by: .milliseconds(30))
                return PipelineResponse(request: request, statusCode: 200, data: Data("hello".utf8))
            },
        ]
        let retry = RetryPlugin(policy: RetryPolicy(statusCodes: [503]), backoff: .immediate)
        _ = try await provider(inspector, [retry], steps).request(URLTarget("https://a.test/a"))
        let page = try await page(inspector)
        let call = try #require(page.calls.first)
        #expect(call.target == "URLTarget" && call.method == "GET" && call.url == "https://a.test/a")
        #expect(call.status == 200 && call.duration == 60 && call.error == nil)
        #expect(page.entries.map(\._pipeline.attempt) == [1, 2, 2])
        #expect(page.entries.map(\._pipeline.hop) == [0, 0, 1])
        #expect(page.entries.map(\.response.status) == [503, 302, 200])
        #expect(page.entries.map(\.request.url) == ["https://a.test/a", "https://a.test/a", "https://a.test/b"])
        #expect(page.entries.last?.response.content.text == "hello")
        #expect(page.entries.last?.timings == ["blocked": 10, "send": 20, "wait": 30, "receive": 0])
        #expect(page.entries.last?.time == 60)
        #expect(call.spans?.contains { $0.kind == "intercept" && $0.name == "RetryPlugin" } == true)
        #expect(call.spans?.count { $0.kind == "wire" } == 3)
    }

    @Test("A failure has its code, its text and its plugin, and the reason why it was not retried")
    func failure() async throws {
        let inspector = InspectorPlugin(.file(file))
        let target = URLTarget("https://a.test", method: .post)
        let provider = provider(inspector, [RetryPlugin()], [.failure(.connectionLost), .status(200)])
        _ = try? await provider.request(target)
        struct Refused: Error {}
        let refusing: any PluginType = .prepare(name: "refusing") { _, _ in throw Refused() }
        let other = self.provider(inspector, [refusing], [])
        _ = try? await other.request(target)
        let page = try await page(inspector)
        #expect(page.entries.map(\._pipeline.refusedRetry) == ["methodNotIdempotent"])
        #expect(page.calls.map(\.error?.code) == ["connectionLost", "plugin"])
        #expect(page.calls.last?.error?.plugin == "refusing")
        #expect(page.calls.map(\.id) == [1, 2])
        #expect(page.entries.map(\._pipeline.call) == [1])
    }

    @Test("A call that gets the response of another call, of a cache or of a plugin has that response")
    func withoutExchange() async throws {
        let inspector = InspectorPlugin(.file(file))
        let fields: HTTPFields = [.cacheControl: "max-age=60"]
        let cached = provider(inspector, [CachePlugin()], [.status(200, headers: fields, body: "stored")])
        for _ in 1...2 { _ = try await cached.request(URLTarget("https://a.test/cached")) }
        let stub: any PluginType = .intercept(name: "stub") { request, _, _ in
            PipelineResponse(request: request, statusCode: 203)
        }
        _ = try await provider(inspector, [stub], []).request(URLTarget("https://a.test/stub"))
        let page = try await page(inspector)
        #expect(page.calls.map(\.source) == [nil, "cache", "plugin"])
        #expect(page.calls.map(\.response?.status) == [nil, 200, 203])
        #expect(page.calls[1].response?.content.text == "stored")
        #expect(page.calls[1].cacheStatus?.contains("hit") == true)
        #expect(page.entries.count == 1)
    }

    @Test("A call that joins the exchange of another call is marked")
    func joined() async throws {
        let inspector = InspectorPlugin(.file(file))
        let deduplication = DeduplicationPlugin()
        let transport = ScriptedTransport { _, _ in .delayed(.seconds(1), .status(200, body: "shared")) }
        let provider = Provider<URLTarget>(
            transport: transport,
            plugins: [inspector, deduplication],
            configuration: .init(clock: clock)
        )
        let calls = (1...2).map { _ in Task { try await provider.request(URLTarget("https://a.test")) } }
        await eventually { deduplication.callerCount == 2 }
        try await clock.advanceToNextSleeper()
        for call in calls { _ = try await call.value }
        let page = try await page(inspector)
        #expect(page.calls.map { $0.joined ?? false }.sorted { !$0 && $1 } == [false, true])
        #expect(page.calls.first { $0.joined == true }?.response?.content.text == "shared")
        #expect(page.entries.count == 1)
    }

    @Test("Nothing on the page contains a secret, wherever a call has it")
    func secrets() async throws {
        let canary = "canary-9f8e7d6c5b4a3210"
        let inspector = InspectorPlugin(.file(file), redactor: Redactor(secretValues: ["declared-canary"]))
        let token: any PluginType = .prepare(name: "of \(canary)") { request, context in
            request.headers[.authorization] = "Bearer \(canary)"
            await context.recordSpan("wait for \(canary)") {}
        }
        let steps: [ScriptedTransport.Step] = [
            .status(
                200,
                headers: [.setCookie: "session=\(canary)2; HttpOnly", .contentType: "application/json"],
                body: #"{"password": "\#(canary)3", "echo": "\#(canary)", "text": "declared-canary"}"#
            ),
            .failure(PipelineError(.transport, "not with \(canary)")),
        ]
        let provider = provider(inspector, [token], steps)
        let target = URLTarget("https://a.test/\(canary)?access_token=\(canary)5")
        // The first call shows the value before any call has it as a credential.
        let early = self.provider(inspector, [.status(200, body: "early \(canary)")])
        _ = try await early.request(URLTarget("https://a.test/\(canary)"))
        for _ in 1...2 { _ = try? await provider.request(target) }
        let text = try String(contentsOf: try await inspector.page(), encoding: .utf8)
        #expect(!text.contains("canary-9f"))
        #expect(!text.contains("declared-canary"))
        #expect(try InspectedPage.of(text).calls.count == 3)
    }

    @Test("Of a large body, a stream and a file, only the size is kept")
    func bodies() async throws {
        let inspector = InspectorPlugin(.file(file), bodyByteCount: 4)
        let steps: [ScriptedTransport.Step] = [.status(200, body: "12345"), .status(200, body: "1234")]
        let provider = provider(inspector, steps)
        for _ in 1...2 { _ = try await provider.request(URLTarget("https://a.test")) }
        let stream = self.provider(inspector, [.status(200, body: .stream(AsyncStream<Data> { nil }))])
        for try await _ in try await stream.stream(URLTarget("https://a.test")).body {}
        let page = try await page(inspector)
        #expect(page.entries.map(\.response.content.text) == [nil, "1234", nil])
        #expect(
            page.entries.map(\._pipeline.bodyNote) == [
                "response: 5 bytes, more than the 4 that are kept", nil, "response: a stream",
            ]
        )
    }

    @Test("A body in a content coding that cannot be decoded is not kept, because its secrets cannot be found")
    func codedBodies() async throws {
        let inspector = InspectorPlugin(.file(file))
        let fields: HTTPFields = [.contentEncoding: "unknown", .contentType: "application/json"]
        let provider = provider(inspector, [.status(200, headers: fields, body: #"{"access_token": "canary"}"#)])
        var target = URLTarget("https://a.test", method: .post, task: .requestData(Data("canary".utf8)))
        target.headers = ["Content-Encoding": "unknown"]
        _ = try await provider.request(target)
        let url = try await inspector.page()
        #expect(try !String(contentsOf: url, encoding: .utf8).contains("canary"))
        let note = try InspectedPage.of(url).entries.first?._pipeline.bodyNote
        #expect(note?.hasPrefix("request: 6 bytes in a content coding") == true)
        #expect(note?.contains("response: 26 bytes in a content coding") == true)
    }

    @Test("A live page that shows a value gets its call again once the value is a secret")
    func lateSecret() async throws {
        let canary = "canary-9f8e7d6c5b4a3210"
        let inspector = InspectorPlugin(.file(file))
        let provider = provider(inspector, [.status(200, body: canary), .status(200), .status(200)])
        _ = try await provider.request(URLTarget("https://a.test/1"))
        let known = inspector.calls.version
        func changes() throws -> InspectedPage {
            try JSONDecoder().decode(
                InspectedPage.self,
                from: inspector.calls.document(after: known, isLive: true)
            )
        }
        _ = try await provider.request(URLTarget("https://a.test/2"))
        #expect(try changes().calls.map(\.id) == [2])
        _ = try await provider.request(URLTarget("https://a.test/3?access_token=\(canary)"))
        #expect(try changes().calls.map(\.id) == [1, 2, 3])
        #expect(try changes().entries.first?.response.content.text == "REDACTED")
    }

    private func provider(_ inspector: InspectorPlugin, _ steps: [ScriptedTransport.Step]) -> Provider<URLTarget> {
        provider(inspector, [], steps)
    }

    @Test("The oldest calls are dropped, by their number and by their bytes, and the latest is kept")
    func bounds() async throws {
        let inspector = InspectorPlugin(.file(file), maximumCallCount: 2)
        let provider = provider(inspector, (1...5).map { .status(200, body: "\($0)") })
        for number in 1...5 { _ = try await provider.request(URLTarget("https://a.test/\(number)")) }
        let page = try await page(inspector)
        #expect(page.calls.map(\.url) == ["https://a.test/4", "https://a.test/5"])
        #expect(page.log._pipeline.droppedCalls == 3)

        let small = InspectorPlugin(.file(file), byteCount: 0)
        let other = self.provider(small, (1...3).map { .status(200, body: "\($0)") })
        for number in 1...3 { _ = try await other.request(URLTarget("https://a.test/\(number)")) }
        #expect(try await self.page(small).calls.map(\.url) == ["https://a.test/3"])
    }

    @Test("A background call has its parent, and the calls of providers that share the plugin have their own numbers")
    func numbers() async throws {
        let inspector = InspectorPlugin(.file(file))
        let refresh: any PluginType = .intercept(name: "refresh") { request, _, next in
            let response = try await next(request)
            next.startBackgroundCall(request) { _ in }
            return response
        }
        let first = provider(inspector, [refresh], [.status(200), .status(200)])
        _ = try await first.request(URLTarget("https://a.test"))
        let second = provider(inspector, [.status(200)])
        _ = try await second.request(URLTarget("https://b.test"))
        await first.drain(within: .seconds(1))
        let calls = try kept(inspector)
        #expect(Set(calls.map(\.id)).count == 3)
        #expect(calls.compactMap(\.parent) == [1])
    }

    @Test("A target that describes itself is named by its method and path template, if it has one")
    func templates() async throws {
        let inspector = InspectorPlugin(.file(file))
        let provider = provider(inspector, [], [.status(200), .status(200)])
        var target = URLTarget("https://a.test/users/7", method: .delete)
        _ = try await provider.request(target)
        target.pathTemplate = "/users/{id}"
        _ = try await provider.request(target)
        #expect(try kept(inspector).map(\.target) == ["URLTarget", "DELETE /users/{id}"])
    }

    @Test("A call shows what plugins did as its log line does, without secrets")
    func notes() async throws {
        let inspector = InspectorPlugin(.file(file), redactor: Redactor(secretValues: ["canary"]))
        let step = ScriptedTransport.Step.answer { request, context in
            for event in ["opened", "saw canary"] { context.report(.event(event, of: "Breaker")) }
            return PipelineResponse(request: request, statusCode: 200)
        }
        let provider = provider(inspector, [], [step, .status(200)])
        for _ in 1...2 { _ = try await provider.request(URLTarget("https://a.test")) }
        #expect(try kept(inspector).map(\.notes) == [["Breaker opened", "Breaker saw REDACTED"], nil])
    }

    @Test("The page names the program, and marks what a recording responded")
    func replayed() async throws {
        let inspector = InspectorPlugin(.file(file))
        let replaying = ScriptedTransport.Step.answer { request, context in
            context.report(.replayed(true))
            return PipelineResponse(request: request, statusCode: 200)
        }
        let provider = provider(inspector, [], [.status(200), replaying])
        for _ in 1...2 { _ = try await provider.request(URLTarget("https://a.test")) }
        let page = try await page(inspector)
        #expect(page.entries.map(\._pipeline.replayed) == [nil, true])
        #expect(page.log._pipeline.program?.hasPrefix(ProcessInfo.processInfo.processName) == true)
    }

    @Test("An enum's case names the target, unless its description is its own")
    func targets() async throws {
        enum Shop: TargetType {
            case list
            case item(Int)
            var baseURL: URL { URLTarget("https://a.test").baseURL }
            var path: String { "" }
            var method: HTTPMethod { .get }
            var task: RequestTask { .requestPlain }
            var headers: [String: String]? { nil }
        }
        enum Private: String, TargetType, CustomStringConvertible {
            case one
            var description: String { "secret" }
            var baseURL: URL { URLTarget("https://a.test").baseURL }
            var path: String { "" }
            var method: HTTPMethod { .get }
            var task: RequestTask { .requestPlain }
            var headers: [String: String]? { nil }
        }
        let inspector = InspectorPlugin(.file(file))
        let provider = Provider<MultiTarget>(
            transport: ScriptedTransport((1...3).map { _ in .status(200) }),
            plugins: [inspector]
        )
        _ = try await provider.request(Shop.list)
        _ = try await provider.request(Shop.item(7))
        _ = try await provider.request(Private.one)
        #expect(try await page(inspector).calls.map(\.target) == ["Shop.list", "Shop.item", "Private"])
    }
}
