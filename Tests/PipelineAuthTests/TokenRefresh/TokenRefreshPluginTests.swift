import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("TokenRefreshPlugin", .tags(.concurrent), .watched)
struct TokenRefreshPluginTests {
    @Test("The plugin passes the conformance suite, even if each call waits for a refresh", arguments: [true, false])
    func conformance(isExpired: Bool) async {
        let violations = await PluginConformance {
            TokenRefreshPlugin(
                credential: Session(accessToken: "token", expiry: isExpired ? .distantPast : nil),
                policy: TokenRefreshPolicy(maximumCount: 1_000)
            ) { old, context in
                try await context.clock.sleep(for: .seconds(1))
                return old
            }
        }.run()
        #expect(violations == [])
    }

    // MARK: Effects: the token

    @Test(
        "The token is sent as given after the type and replaces an existing field",
        arguments: [
            (AuthorizationType.bearer, "1|abc.def", "Bearer 1|abc.def"), (.basic, "dXNlcjpwYXNz", "Basic dXNlcjpwYXNz"),
            (.custom("Token"), "a b", "Token a b"),
        ]
    )
    func schemes(type: AuthorizationType, token: String, value: String) async throws {
        let bench = TokenBench { _ in true }
        let target = Ask(headers: ["Authorization": "own", "Accept": "a"], authorizationType: type)
        _ = try await bench.provider(bench.plugin(token)).request(MultiTarget(target))
        let request = try #require(bench.transport.sent.last)
        #expect(request.headers[values: .authorization] == [value])
        #expect(request.headers[values: .accept] == ["a"])
    }

    @Test(
        "A token request, or a request whose target needs no token, is unchanged and does not wait"
    )
    func untouched() async throws {
        let bench = TokenBench(isGated: true, refuses: "old")
        let plugin = bench.plugin(expiresIn: .zero)
        let provider = bench.provider(plugin)
        let waiting = Task { try await provider.request(Ask.bearer) }
        try await bench.gate.waitForSleepers()
        let fields = ["Authorization": "Bearer old"]
        var statuses: [Int] = []
        statuses.append(try await provider.request(PlainAsk(headers: fields)).statusCode)
        statuses.append(try await provider.request(Ask(headers: fields)).statusCode)
        let ask = Ask(headers: fields, authorizationType: .bearer)
        statuses.append(try await provider.request(ask, options: .init { $0.isTokenRequest = true }).statusCode)
        #expect(statuses == [401, 401, 401])
        #expect(
            bench.transport.sent.allSatisfy { $0.headers == [.authorization: "Bearer old"] && $0.secretFields.isEmpty }
        )
        #expect(plugin.waitingCount == 1)
        try await bench.openGate()
        _ = try await waiting.value
        #expect(bench.expired == ["old"])
    }

    @Test("A request that an outer plugin sends to another origin is unchanged and does not wait")
    func otherOrigin() async throws {
        let bench = TokenBench { _ in false }
        let away = PluginStack.prepare { request, _ in request.head.authority = "b.test" }
        let response = try await bench.provider(away, bench.plugin(expiresIn: .zero)).request(Ask.bearer)
        #expect(response.statusCode == 401)
        #expect(bench.sent == [nil])
        #expect(bench.expired == [])
    }

    // MARK: Effects: when it refreshes

    @Test(
        "An empty token counts as none: it is refreshed first, and a call with an empty new one fails and sends nothing"
    )
    func emptyToken() async throws {
        let bench = TokenBench { _ in true }
        _ = try await bench.provider(bench.plugin("")).request(Ask.bearer)
        #expect(bench.sent == ["Bearer t1"])
        #expect(bench.expired == [""])
        let plugin = TokenRefreshPlugin(credential: bench.session("old", expiresIn: .zero)) { _, _ in bench.session("")
        }
        let error = await #expect(throws: PipelineError.self) {
            try await bench.provider(plugin).request(Ask.bearer)
        }
        #expect(error?.code == .invalidRequest(.headerValue))
        #expect(bench.sent.count == 1)
    }

    @Test("A refused token is refreshed, and the request is retried as a separate attempt")
    func refused() async throws {
        let bench = TokenBench(refuses: "old")
        let target = Ask(method: .post, task: .requestData(Data("body".utf8)), authorizationType: .bearer)
        let response = try await bench.provider(bench.plugin()).request(target)
        #expect(response.statusCode == 200)
        #expect(bench.sent == ["Bearer old", "Bearer t1"])
        #expect(bench.transport.sent.map(\.body.bytes) == [Data("body".utf8), Data("body".utf8)])
        #expect(response.exchanges.map(\.attempt) == [1, 2])
        #expect(response.exchanges.map(\.statusCode) == [401, 200])
    }

    @Test(
        "A03 A 401 after the refresh is returned, and a call causes at most one refresh",
        arguments: [false, true]
    )
    func stillRefused(isExpired: Bool) async throws {
        let bench = TokenBench { _ in false }
        let response = try await bench.provider(bench.plugin(expiresIn: isExpired ? .zero : nil)).request(Ask.bearer)
        #expect(response.statusCode == 401)
        #expect(response.data == Data("no".utf8))
        #expect(bench.sent == (isExpired ? ["Bearer t1"] : ["Bearer old", "Bearer t1"]))
        #expect(bench.expired == ["old"])
    }

    @Test("A03 A call that an outer plugin retries causes one refresh in total")
    func oncePerCall() async throws {
        let bench = TokenBench { _ in false }
        let again = PluginStack.intercept { request, _, next in
            _ = try await next(request)
            return try await next(request)
        }
        _ = try await bench.provider(again, bench.plugin()).request(Ask.bearer)
        #expect(bench.sent == ["Bearer old", "Bearer t1", "Bearer t1"])
        #expect(bench.expired == ["old"])
    }

    // MARK: Effects: responses that do not refuse the token

    @Test("A 401 from another origin after a redirect does not cause a refresh")
    func redirected() async throws {
        let transport = ScriptedTransport([.status(302, headers: [.location: "https://b.test/"]), .status(401)])
        let bench = TokenBench { _ in true }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [bench.plugin()],
            configuration: .init(clock: bench.clock)
        )
        #expect(try await provider.request(.bearer).statusCode == 401)
        #expect(transport.sent.map { $0.headers[.authorization] } == ["Bearer old", nil])
        #expect(bench.expired == [])
    }

    @Test("A 401 to a request that lost its token does not cause a refresh, even from the original origin")
    func redirectedBack() async throws {
        let transport = ScriptedTransport([
            .status(302, headers: [.location: "https://b.test/"]),
            .status(302, headers: [.location: "https://a.test/"]),
            .status(401),
        ])
        let bench = TokenBench { _ in true }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [bench.plugin()],
            configuration: .init(clock: bench.clock)
        )
        #expect(try await provider.request(.bearer).statusCode == 401)
        #expect(bench.expired == [])
    }

    @Test("A 401 from another origin chosen by an inner plugin does not cause a refresh")
    func takenAway() async throws {
        let bench = TokenBench { _ in false }
        let away = PluginStack.prepare { request, _ in request.head.authority = "b.test" }
        #expect(try await bench.provider(bench.plugin(), away).request(Ask.bearer).statusCode == 401)
        #expect(bench.expired == [])
    }

    // MARK: Effects: bodies and streams

    private final class Source: Sendable {
        let chunkCount = Atomic(0)

        func body(chunks: Int) -> PipelineBody {
            .stream(
                AsyncStream {
                    let number = self.chunkCount.add(1, ordering: .relaxed).newValue
                    return number > chunks ? nil : Data(repeating: 1, count: 1_024)
                }
            )
        }
    }

    @Test(
        "The body of a refused stream is read up to a limit, and the next response is streamed",
        arguments: [(3, 4), (1_000, 65)]
    )
    func stream(chunks: Int, read: Int) async throws {
        let source = Source()
        let transport = ScriptedTransport([
            .status(401, body: source.body(chunks: chunks)), .status(200, body: Source().body(chunks: 2)),
        ])
        let bench = TokenBench { _ in true }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [bench.plugin()],
            configuration: .init(clock: bench.clock)
        )
        let response = try await provider.stream(.bearer)
        #expect(try await response.body.reduce(0) { $0 + $1.count } == 2_048)
        #expect(source.chunkCount.load(ordering: .relaxed) == read)
        #expect(bench.expired == ["old"])
    }

    @Test(
        "R09 A refused stream that stalls is closed after a second, whatever the attempt timeout",
        arguments: [nil, 2]
    )
    func stalledStream(timeout: Int?) async throws {
        let silence = AsyncStream<Data> { _ in }
        let transport = ScriptedTransport([.status(401, body: .stream(silence)), .status(200)])
        let bench = TokenBench { _ in true }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [bench.plugin()],
            configuration: .init(clock: bench.clock)
        )
        let options = RequestOptions { $0.attemptTimeout = timeout.map { .seconds($0) } }
        let status = try await bench.clock.run { try await provider.stream(.bearer, options: options).statusCode }
        #expect(status == 200)
        #expect(bench.clock.now.offset == .seconds(1))
    }

    @Test("A request with a one-shot body returns its 401, and the next call refreshes first")
    func notReplayable() async throws {
        let bench = TokenBench(refuses: "old")
        let provider = bench.provider(
            .prepare { request, context in
                guard context.callID == 1 else { return }
                request.method = .post
                request.body = .stream(AsyncStream { $0.finish() })
            },
            bench.plugin()
        )
        let response = try await provider.request(Ask.bearer)
        #expect(response.statusCode == 401)
        #expect(response.data == Data("no".utf8))
        #expect(bench.expired == [])
        #expect(try await provider.request(Ask.bearer).statusCode == 200)
        #expect(bench.sent == ["Bearer old", "Bearer t1"])
    }

    // MARK: Effects: sessions

    @Test(
        "Without a credential, calls that need a token fail unless the policy sends them without one",
        arguments: [.fail, .send, .sendAll] as [TokenRefreshPolicy.WithoutCredential]
    )
    func loggedOut(withoutCredential: TokenRefreshPolicy.WithoutCredential) async throws {
        let bench = TokenBench { !$0.isEmpty }
        let plugin = bench.plugin(nil, policy: TokenRefreshPolicy(withoutCredential: withoutCredential))
        let handled = LockedList<Int?>()
        let provider = bench.provider(
            UnauthorizedPlugin { response, _ in handled.append(response?.statusCode) },
            plugin
        )
        func outcome() async throws -> PipelineError.Code? {
            do {
                _ = try await provider.request(Ask(validationType: .successCodes, authorizationType: .bearer))
                return nil
            } catch let error as PipelineError {
                return error.code
            }
        }
        let isSent = withoutCredential != .fail
        let code = isSent ? PipelineError.Code.unacceptableStatus : .sessionEnded
        #expect(try await [outcome(), outcome()] == [code, code])
        #expect(handled.all == (isSent ? [401, 401] : [nil]))
        await plugin.setCredential(Session(accessToken: "mine"))
        #expect(try await outcome() == nil)
        await plugin.setCredential(nil)
        #expect(try await [outcome(), outcome()] == [code, code])
        #expect(handled.all == (isSent ? [401, 401, 401, 401] : [nil, nil]))
        #expect(bench.sent == (isSent ? [nil, nil, "Bearer mine", nil, nil] : ["Bearer mine"]))
        #expect(try await provider.request(Ask()).statusCode == 401)
        #expect(bench.expired == [])
    }

    @Test(
        "With send, calls of an ended session fail, and later calls are sent without a token"
    )
    func sendsNewCalls() async throws {
        let bench = TokenBench(isGated: true, refuses: "old")
        let plugin = bench.plugin(expiresIn: .zero, policy: TokenRefreshPolicy(withoutCredential: .send))
        let provider = bench.provider(plugin)
        let call = Task { try await provider.request(Ask.bearer) }
        await bench.waitForCallers(1, of: plugin)
        await plugin.setCredential(nil)
        let error = await #expect(throws: PipelineError.self) { try await call.value }
        #expect(error?.code == .sessionEnded)
        #expect(try await provider.request(Ask.bearer).statusCode == 200)
        #expect(bench.sent == [nil])
    }

    @Test("A plugin made with obtain requests the first credential, and another one after a logout")
    func obtain() async throws {
        let bench = TokenBench { _ in true }
        let plugin = TokenRefreshPlugin { old, _ in try await bench.refresh(old) }
        let provider = bench.provider(plugin)
        _ = try await provider.request(Ask.bearer)
        _ = try await provider.request(Ask.bearer)
        await plugin.setCredential(nil)
        _ = try await provider.request(Ask.bearer)
        #expect(bench.sent == ["Bearer t1", "Bearer t1", "Bearer t2"])
        #expect(bench.expired == [nil, nil])
    }
}
