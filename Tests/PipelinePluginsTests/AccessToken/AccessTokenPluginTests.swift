import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("AccessTokenPlugin", .tags(.concurrent), .realTime, .watched)
struct AccessTokenPluginTests {
    private struct Refused: Error {}

    private let transport = ScriptedTransport(always: .status(200))

    private func sent(_ target: some TargetType, _ plugins: any PluginType...) async throws -> PipelineRequest {
        let provider = Provider<MultiTarget>(transport: transport, plugins: plugins)
        _ = try await provider.request(target)
        return try #require(transport.sent.last)
    }

    private func error(_ target: Ask, _ plugins: any PluginType...) async -> PipelineError? {
        let provider = Provider<MultiTarget>(transport: transport, plugins: plugins)
        return await #expect(throws: PipelineError.self) { try await provider.request(target) }
    }

    @Test("The plugin passes the conformance suite")
    func conformance() async {
        let violations = await PluginConformance { AccessTokenPlugin { _ in "token" } }.run()
        #expect(violations == [])
    }

    // MARK: Effects

    @Test(
        "M161 M162 The token is sent as given, after the scheme",
        arguments: [
            (AuthorizationType.basic, "dXNlcjpwYXNz", "Basic dXNlcjpwYXNz"),
            (.bearer, "abc.def-ghi~+/=", "Bearer abc.def-ghi~+/="),
            (.bearer, "1|laravel", "Bearer 1|laravel"),
            (.custom("Token"), "a b, c=\"d\"", "Token a b, c=\"d\""),
        ]
    )
    func schemes(type: AuthorizationType, token: String, value: String) async throws {
        let request = try await sent(Ask(authorizationType: type), AccessTokenPlugin { _ in token })
        #expect(request.headers[values: .authorization] == [value])
    }

    @Test("The token replaces an existing Authorization and is not appended to it")
    func replaces() async throws {
        let target = Ask(headers: ["authorization": "old", "Accept": "a"], authorizationType: .bearer)
        let request = try await sent(target, AccessTokenPlugin { _ in "new" })
        #expect(request.headers[values: .authorization] == ["Bearer new"])
        #expect(request.headers[values: .accept] == ["a"])
    }

    @Test("If the closure returns no token, or an empty one, the request is sent unchanged", arguments: [nil, ""])
    func noToken(token: String?) async throws {
        let target = Ask(headers: ["Accept": "a"], authorizationType: .bearer)
        let request = try await sent(target, AccessTokenPlugin { _ in token })
        #expect(request.headers[.authorization] == nil && request.headers[.accept] == "a")
    }

    @Test("M163 The closure receives the target itself, however deeply it is wrapped")
    func multiTarget() async throws {
        let plugin = AccessTokenPlugin { target in target is Ask ? "inner" : "\(type(of: target))" }
        let request = try await sent(MultiTarget(MultiTarget(Ask(authorizationType: .bearer))), plugin)
        #expect(request.headers[.authorization] == "Bearer inner")
    }

    @Test(
        "A request whose target needs no token is untouched, and the closure does not run",
        arguments: [true, false]
    )
    func otherTargets(conforms: Bool) async throws {
        let count = Atomic(0)
        let plugin = AccessTokenPlugin { _ in
            count.add(1, ordering: .relaxed)
            return "token"
        }
        let fields = ["Authorization": "own"]
        let request =
            conforms ? try await sent(Ask(headers: fields), plugin) : try await sent(PlainAsk(headers: fields), plugin)
        #expect(request.headers == [.authorization: "own"])
        #expect(request.secretFields.isEmpty)
        let asked = count.load(ordering: .relaxed)
        #expect(asked == 0)
    }

    @Test("Nothing is kept between calls: the closure runs for each call")
    func asksAnew() async throws {
        let count = Atomic(0)
        let plugin = AccessTokenPlugin { _ in "t\(count.add(1, ordering: .relaxed).newValue)" }
        for number in 1...3 {
            let request = try await sent(Ask(authorizationType: .bearer), plugin)
            #expect(request.headers[.authorization] == "Bearer t\(number)")
        }
    }

    @Test(
        "Q09 Over http, a token is sent only to a loopback address",
        arguments: [
            ("http://a.test", false), ("https://a.test", true), ("http://localhost:8080", true),
            ("http://127.0.0.1", true),
            ("http://127.8.9.10:1", true), ("http://[::1]:8080", true), ("http://api.localhost", true),
            ("http://localhost.a.test", false), ("http://127.0.0.1.a.test", false), ("http://128.0.0.1", false),
            ("http://127.0.0", false), ("http://127.0.0.256", false), ("http://127.+0.0.1", false),
            ("http://[::2]", false),
            ("http://0.0.0.0", false),
        ]
    )
    func cleartext(url: String, isAllowed: Bool) async throws {
        let asked = Atomic(false)
        let target = Ask(url: url, authorizationType: .bearer)
        let plugin = AccessTokenPlugin { _ in
            asked.store(true, ordering: .relaxed)
            return "canary"
        }
        if isAllowed {
            #expect(try await sent(target, plugin).headers[.authorization] == "Bearer canary")
        } else {
            #expect(await error(target, plugin)?.code == .invalidRequest(.credential))
            #expect(transport.sent.isEmpty)
            let wasAsked = asked.load(ordering: .relaxed)
            #expect(!wasAsked)
        }
    }

    @Test("With `.allowed`, a token is sent over http to any host")
    func allowedCleartext() async throws {
        let target = Ask(url: "http://a.test", authorizationType: .bearer)
        let request = try await sent(target, AccessTokenPlugin(cleartext: .allowed) { _ in "t" })
        #expect(request.headers[.authorization] == "Bearer t")
    }

    @Test(
        "Q07 A request whose origin another plugin changed is untouched, and the closure does not run",
        arguments: [
            ("https", "b.test", false), ("https", "a.test:444", false), ("http", "a.test", false),
            ("https", "a.test.b.test", false), ("https", "a.test:443", true), ("https", "A.test", true),
        ]
    )
    func otherOrigin(scheme: String, authority: String, isOwn: Bool) async throws {
        let asked = Atomic(false)
        let leading = PluginStack.prepare { request, _ in
            request.head.scheme = scheme
            request.head.authority = authority
        }
        let plugin = AccessTokenPlugin(cleartext: .allowed) { _ in
            asked.store(true, ordering: .relaxed)
            return "token"
        }
        let request = try await sent(Ask(authorizationType: .bearer), leading, plugin)
        #expect(request.headers[.authorization] == (isOwn ? "Bearer token" : nil))
        #expect(request.secretFields.isEmpty == !isOwn)
        let wasAsked = asked.load(ordering: .relaxed)
        #expect(wasAsked == isOwn)
    }

    @Test(
        "Q07 A host that is only a prefix of the endpoint's host is another origin",
        arguments: [
            ("https://a.test.b.test/x", false), ("https://a.test:444/x", false), ("https://a.testing", false),
            ("https://a.test/x", true), ("https://a.test?x", true), ("https://a.test", true),
            ("https://a.test:443/x", true),
        ]
    )
    func beginningOfHost(url: String, isOwn: Bool) async throws {
        let leading = PluginStack.prepare { request, _ in request.head.authority = "a.test" }
        let plugin = AccessTokenPlugin { _ in "token" }
        let request = try await sent(Ask(url: url, authorizationType: .bearer), leading, plugin)
        #expect(request.headers[.authorization] == (isOwn ? "Bearer token" : nil))
    }

    @Test("Q07 The origin is that of the endpoint that the provider's endpoint closure returns")
    func endpointOrigin() async throws {
        let provider = Provider<Ask>(transport: transport, plugins: [AccessTokenPlugin { _ in "token" }]) { target in
            var endpoint = Endpoint(target)
            endpoint.url = "https://b.test/"
            return endpoint
        }
        _ = try await provider.request(Ask(authorizationType: .bearer))
        #expect(transport.sent.first?.headers[.authorization] == "Bearer token")
    }

    // MARK: Position

    @Test(
        "Inside a plugin that retries, each attempt has a new token; outside it, all have the same",
        arguments: [true, false]
    )
    func attempts(isInside: Bool) async throws {
        let count = Atomic(0)
        let token = AccessTokenPlugin { _ in "t\(count.add(1, ordering: .relaxed).newValue)" }
        let again = PluginStack.intercept { request, _, next in
            _ = try await next(request)
            return try await next(request)
        }
        let target = Ask(authorizationType: .bearer)
        _ = isInside ? try await sent(target, again, token) : try await sent(target, token, again)
        let expected = isInside ? ["Bearer t1", "Bearer t2"] : ["Bearer t1", "Bearer t1"]
        #expect(transport.sent.map { $0.headers[.authorization] } == expected)
    }

    @Test("Of two plugins in a stack, the inner one's token is sent, and explain() reports both")
    func two() async throws {
        let outer = AccessTokenPlugin { _ in "outer" }
        let inner = AccessTokenPlugin { _ in "inner" }
        let request = try await sent(Ask(authorizationType: .bearer), outer, inner)
        #expect(request.headers[values: .authorization] == ["Bearer inner"])
        let stacks: [[any PluginType]] = [[outer, inner], [outer]]
        let findings = stacks.map { Provider<Ask>(transport: transport, plugins: $0).explain().findings }
        #expect(findings.map { $0.map(\.id) } == [["token-inside-token"], []])
        #expect(findings.first?.first?.message.contains("the inner plugin replaces the token") == true)
    }

    // MARK: Errors

    @Test("An error that the closure throws becomes the underlying error of code plugin, and nothing is sent")
    func closureThrows() async {
        let error = await error(Ask(authorizationType: .bearer), AccessTokenPlugin { _ in throw Refused() })
        #expect(error?.code == .plugin)
        #expect(error?.underlyingError is Refused)
        #expect(error?.plugin == "AccessTokenPlugin")
        #expect(transport.sent.isEmpty)
    }

    @Test(
        "Q01 Q09 A token that cannot be sent is refused, and the error does not show it",
        arguments: [
            (AuthorizationType.bearer, "canary\r\nX-Evil:1", PipelineError.Code.invalidRequest(.headerValue)),
            (.bearer, "canary\n", .invalidRequest(.headerValue)),
            (.bearer, "canary\u{0}", .invalidRequest(.headerValue)),
            (.custom("Token"), "canary\r", .invalidRequest(.headerValue)),
            (.bearer, "canary two", .invalidRequest(.credential)),
            (.bearer, "canary,Basic x", .invalidRequest(.credential)),
            (.bearer, "\"canary\"", .invalidRequest(.credential)),
            (.basic, "user:canary", .invalidRequest(.credential)),
        ]
    )
    func badToken(type: AuthorizationType, token: String, code: PipelineError.Code) async {
        let error = await error(Ask(authorizationType: type), AccessTokenPlugin { _ in token })
        #expect(error?.code == code)
        var text = error.map { "\($0) \($0.localizedDescription)" } ?? ""
        dump(error, to: &text)
        #expect(!text.contains("canary"))
        #expect(transport.sent.isEmpty)
    }

    @Test("A call that is cancelled while the closure waits stops at once")
    func cancelled() async throws {
        let clock = ManualClock()
        let plugin = AccessTokenPlugin { _ in
            try await clock.sleep(for: .seconds(60))
            return "token"
        }
        let provider = Provider<Ask>(transport: transport, plugins: [plugin], configuration: .init(clock: clock))
        let call = Task { try await provider.request(Ask(authorizationType: .bearer)) }
        try await clock.waitForSleepers()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(transport.sent.isEmpty)
    }

    // MARK: Secrets

    @Test(
        "The field is marked as secret, and dropped when a redirect leaves the origin",
        arguments: ["https://b.test/", "/c"]
    )
    func redirect(location: String) async throws {
        let transport = ScriptedTransport([.status(302, headers: [.location: location]), .status(200)])
        let provider = Provider<Ask>(transport: transport, plugins: [AccessTokenPlugin { _ in "token" }])
        _ = try await provider.request(Ask(authorizationType: .bearer))
        #expect(transport.sent.first?.secretFields == [.authorization])
        #expect(
            transport.sent.map { $0.headers[.authorization] } == [
                "Bearer token", location == "/c" ? "Bearer token" : nil,
            ]
        )
    }

    @Test("Over loopback HTTP the server gets the token")
    func loopback() async throws {
        let server = try LoopbackServer { request in
            [.respond(200, body: request.values(of: "Authorization").joined())]
        }
        defer { server.stop() }
        let plugin = AccessTokenPlugin { _ in "token" }
        let provider = Provider<Ask>(transport: URLSessionTransport(), plugins: [plugin])
        let answer = try await provider.request(Ask(url: "\(server.url)", authorizationType: .bearer))
        #expect(try answer.mapString() == "Bearer token")
    }
}
