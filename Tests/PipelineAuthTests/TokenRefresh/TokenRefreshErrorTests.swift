import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("TokenRefreshPlugin: errors, position and secrets", .tags(.concurrent), .watched)
struct TokenRefreshErrorTests: TokenCalls {
    // MARK: Errors

    @Test("A call's deadline ends its own wait and no other call's")
    func deadline() async throws {
        let bench = TokenBench(isGated: true, refuses: "old")
        let plugin = bench.plugin()
        let hasty = Task { try await bench.provider(deadline(.seconds(3)), plugin).request(Ask.bearer) }
        await bench.waitForCallers(1, of: plugin)
        let patient = Task { try await bench.provider(plugin).request(Ask.bearer) }
        await bench.waitForCallers(2, of: plugin)
        try await bench.clock.waitForSleepers(2)
        bench.clock.advance(by: .seconds(3))
        let error = await #expect(throws: PipelineError.self) { try await hasty.value }
        #expect(error?.code == .timeout(.total))
        #expect(error?.response?.statusCode == 401)
        try await bench.openGate()
        #expect(try await patient.value.statusCode == 200)
        #expect(bench.expired == ["old"])
    }

    @Test("A call past its deadline returns its 401 without a refresh, and the next call refreshes first")
    func deadlinePassed() async throws {
        let bench = TokenBench(refuses: "old")
        let plugin = bench.plugin()
        #expect(try await bench.provider(deadline(.zero), plugin).request(Ask.bearer).statusCode == 401)
        #expect(bench.expired == [])
        #expect(try await bench.provider(plugin).request(Ask.bearer).statusCode == 200)
        #expect(bench.sent == ["Bearer old", "Bearer t1"])
        await plugin.setCredential(bench.session("expired", expiresIn: .zero))
        #expect(try await bench.provider(deadline(.zero), plugin).request(Ask.bearer).statusCode == 200)
        #expect(bench.sent.last == "Bearer expired")
    }

    @Test(
        "Q09 A token that cannot be sent is refused with an error that does not reveal it",
        arguments: [
            (AuthorizationType.bearer, "canary\r\nX-Evil:1", PipelineError.Code.invalidRequest(.headerValue)),
            (.bearer, "canary two", .invalidRequest(.credential)),
            (.basic, "user:canary", .invalidRequest(.credential)),
        ]
    )
    func badToken(type: AuthorizationType, token: String, code: PipelineError.Code) async {
        let bench = TokenBench { _ in true }
        let provider = bench.provider(bench.plugin(token))
        let error = await #expect(throws: PipelineError.self) {
            try await provider.request(Ask(authorizationType: type))
        }
        #expect(error?.code == code)
        #expect(error.map { "\($0) \($0.localizedDescription)" }?.contains("canary") == false)
        #expect(bench.sent == [])
    }

    @Test(
        "Q09 Over plain HTTP to a remote host, nothing is sent or refreshed unless allowed",
        arguments: [true, false]
    )
    func cleartext(isAllowed: Bool) async throws {
        let bench = TokenBench { _ in true }
        let plugin = TokenRefreshPlugin(
            credential: bench.session("old", expiresIn: .zero),
            cleartext: isAllowed ? .allowed : .loopbackOnly
        ) { old, _ in try await bench.refresh(old) }
        let provider = bench.provider(plugin)
        let target = Ask(url: "http://a.test", authorizationType: .bearer)
        if isAllowed {
            #expect(try await provider.request(target).statusCode == 200)
        } else {
            let error = await #expect(throws: PipelineError.self) { try await provider.request(target) }
            #expect(error?.code == .invalidRequest(.credential))
            #expect(bench.sent == [])
        }
        #expect(bench.expired == (isAllowed ? ["old"] : []))
        #expect(try await provider.request(Ask(url: "http://127.0.0.1", authorizationType: .bearer)).statusCode == 200)
    }

    @Test("A failure inside passes through without a refresh")
    func passesThrough() async throws {
        let bench = TokenBench { _ in true }
        let transport = ScriptedTransport(always: .failure(.connectionLost))
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [bench.plugin()],
            configuration: .init(clock: bench.clock)
        )
        let error = await #expect(throws: PipelineError.self) { try await provider.request(.bearer) }
        #expect(error?.code == .connectionLost)
        #expect(bench.expired == [])
    }

    @Test(
        "An invalid policy setting traps with a message that names it",
        arguments: ["leeway is -1.0 seconds", "timeout is 0.0 seconds", "maximumCount is 0", "window is 0.0 seconds"]
    )
    func preconditions(text: String) async throws {
        let result: ExitTest.Result?
        switch text.prefix(1) {
        case "l":
            result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = TokenRefreshPolicy(leeway: .seconds(-1))
            }
        case "t":
            result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = TokenRefreshPolicy(timeout: .zero)
            }
        case "m":
            result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = TokenRefreshPolicy(maximumCount: 0)
            }
        default:
            result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = TokenRefreshPolicy(window: .zero)
            }
        }
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(output.contains(text))
    }

    // MARK: Position

    @Test(
        "Inside a retry plugin each attempt has the current token; outside it, all have the first",
        arguments: [true, false]
    )
    func attempts(isInside: Bool) async throws {
        let bench = TokenBench { _ in true }
        let plugin = bench.plugin()
        let again = PluginStack.intercept { request, _, next in
            _ = try await next(request)
            await plugin.setCredential(Session(accessToken: "new"), continuesSession: true)
            return try await next(request)
        }
        _ = try await (isInside ? bench.provider(again, plugin) : bench.provider(plugin, again)).request(Ask.bearer)
        #expect(bench.sent == (isInside ? ["Bearer old", "Bearer new"] : ["Bearer old", "Bearer old"]))
    }

    @Test(
        "An outer plugin sees only a 401 that remains after a refresh; an inner plugin sees each one",
        arguments: [true, false]
    )
    func told(isOutside: Bool) async throws {
        for helps in [true, false] {
            let bench = TokenBench { helps && $0 != "Bearer old" }
            let seen = Mutex<[Int]>([])
            let watch = PluginStack.process { result, _ in
                if case .success(let response) = result { seen.withLock { $0.append(response.statusCode) } }
            }
            let plugin = bench.plugin()
            _ = try await (isOutside ? bench.provider(watch, plugin) : bench.provider(plugin, watch)).request(
                Ask.bearer
            )
            let last = helps ? 200 : 401
            #expect(seen.withLock { $0 } == (isOutside ? [last] : [401, last]))
        }
    }

    @Test("A plugin that signs or shares requests sees the token only if it is inside")
    func signing() async throws {
        let bench = TokenBench(refuses: "old")
        let seen = Mutex<[String]>([])
        func sign(_ name: String) -> PluginStack {
            .prepare { request, _ in
                let token = request.headers[.authorization]
                seen.withLock { $0.append("\(name) \(token ?? "-")") }
            }
        }
        _ = try await bench.provider(sign("outside"), bench.plugin(), sign("inside")).request(Ask.bearer)
        #expect(seen.withLock { $0 } == ["outside -", "inside Bearer old", "inside Bearer t1"])
    }

    @Test("If two plugins set a token, the inner one's is sent, the outer ignores its 401, the stack reports it")
    func two() async throws {
        let bench = TokenBench { _ in false }
        let other = AccessTokenPlugin { _ in "other" }
        let inner = TokenRefreshPlugin(credential: Session(accessToken: "inner")) { old, _ in old }
        #expect(try await bench.provider(bench.plugin(), other).request(Ask.bearer).statusCode == 401)
        #expect(bench.sent == ["Bearer other"])
        #expect(bench.expired == [])
        let stacks: [[any PluginType]] = [
            [bench.plugin()], [bench.plugin(), other], [other, bench.plugin()], [bench.plugin(), inner],
        ]
        let findings = stacks.map {
            Provider<Ask>(transport: bench.transport, plugins: $0).explain().findings
        }
        let (own, another) = (bench.plugin().name, other.name)
        #expect(findings.map { $0.map(\.plugins) } == [[], [[another, own]], [[own, another]], [[inner.name, own]]])
        #expect(findings.joined().allSatisfy { $0.id == "token-inside-token" })
    }

    // MARK: Secrets

    @Test(
        "The Authorization field is marked secret and dropped when a redirect leaves the origin",
        arguments: ["https://b.test/", "/c"]
    )
    func redirect(location: String) async throws {
        let transport = ScriptedTransport([.status(302, headers: [.location: location]), .status(200)])
        let bench = TokenBench { _ in true }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [bench.plugin()],
            configuration: .init(clock: bench.clock)
        )
        _ = try await provider.request(.bearer)
        #expect(transport.sent.first?.secretFields == [.authorization])
        #expect(transport.sent.last?.headers[.authorization] == (location == "/c" ? "Bearer old" : nil))
    }

    private struct Leak: Error {
        let text = "canary-closure"
    }

    @Test("F06 No error and no description shows a token, a refresh token, or what the closure threw")
    func canaries() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(
            always: .status(401, headers: [.wwwAuthenticate: "canary-field"], body: "canary-body")
        )
        let number = Atomic(0)
        let plugin = TokenRefreshPlugin(
            credential: Session(accessToken: "canary-access", refreshToken: "canary-refresh"),
            policy: TokenRefreshPolicy(maximumCount: 3, window: .seconds(300))
        ) { old, context in
            switch number.add(1, ordering: .relaxed).newValue {
            case 1: throw Leak()
            case 2: try await context.clock.sleep(for: .seconds(60))
            default: break
            }
            return Session(accessToken: "canary-new", refreshToken: "canary-refresh")
        }
        let provider = Provider<Ask>(transport: transport, plugins: [plugin], configuration: .init(clock: clock))
        var codes: [PipelineError.Code] = []
        var text = ""
        for _ in 1...4 {
            let call = Task {
                try await provider.request(Ask(validationType: .successCodes, authorizationType: .bearer))
            }
            if codes.count == 1 {
                try await clock.waitForSleepers(2)
                clock.advance(by: .seconds(30))
            }
            let error = try #require(await #expect(throws: PipelineError.self) { try await call.value })
            codes.append(error.code)
            text += "\(error)|\(String(reflecting: error))|\(error.localizedDescription)|"
            dump(error, to: &text)
        }
        #expect(codes == [.tokenRefresh, .timeout(.tokenRefresh), .unacceptableStatus, .excessiveRefresh])
        for subject in [plugin, provider, provider.plugins, provider.explain()] as [Any] {
            text += "\(subject)|\(String(reflecting: subject))|"
            dump(subject, to: &text)
        }
        #expect(!text.contains("canary"))
        #expect(text.contains("TokenRefreshPlugin"))
    }
}
