import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("TokenRefreshPlugin: end of a session", .tags(.concurrent), .watched)
struct TokenSessionTests: TokenCalls {
    /// How a session ends.
    enum End: CaseIterable {
        case logOut, refresh

        var change: TokenBench.Change { .init(nil, self == .logOut ? .logOut : .sessionEnd) }
    }

    /// The statuses that `UnauthorizedPlugin` handled; `nil` for a call that was not sent.
    private final class Handled: Sendable {
        private let list = Mutex<[Int?]>([])

        var statuses: [Int?] { list.withLock { $0 } }

        var plugin: UnauthorizedPlugin {
            UnauthorizedPlugin { response, _ in self.list.withLock { $0.append(response?.statusCode) } }
        }
    }

    private let handled = Handled()

    private func plugin(
        _ bench: TokenBench,
        _ end: End,
        expiresIn: Duration? = nil,
        policy: TokenRefreshPolicy = TokenRefreshPolicy()
    ) -> TokenRefreshPlugin<Session> {
        TokenRefreshPlugin(
            credential: bench.session("old", expiresIn: expiresIn),
            policy: policy,
            onChange: { bench.note($0, $1) },
            refresh: { old, _ in
                let new = try await bench.refresh(old)
                return end == .refresh ? nil : new
            }
        )
    }

    private func finish(_ end: End, _ plugin: TokenRefreshPlugin<Session>, _ bench: TokenBench) async throws {
        try await bench.gate.waitForSleepers()
        if end == .logOut { await plugin.setCredential(nil) } else { try await bench.openGate() }
    }

    // MARK: Calls that wait

    @Test(
        "A08 When a session ends, waiting calls fail once each without being sent, and handlers run once",
        arguments: End.allCases
    )
    func waiting(end: End) async throws {
        let bench = TokenBench(isGated: true) { _ in true }
        let plugin = plugin(bench, end, expiresIn: .zero)
        let provider = bench.provider(handled.plugin, RetryPlugin(), plugin)
        let calls = calls(50, of: provider)
        await bench.waitForCallers(50, of: plugin)
        try await finish(end, plugin, bench)
        #expect(await codes(calls) == Array(repeating: .sessionEnded, count: 50))
        // Calls that begin after the end fail too.
        #expect(await codes(self.calls(50, of: provider)) == Array(repeating: .sessionEnded, count: 50))
        #expect(bench.sent == [])
        #expect(handled.statuses == [nil])
        await TokenBench.wait { bench.changes == [end.change] }
        #expect(plugin.waitingCount == 0)
        #expect(bench.expired == ["old"])
        await TokenBench.wait { bench.gate.sleeperCount == 0 && bench.clock.sleeperCount == 0 }
        await plugin.setCredential(Session(accessToken: "mine"))
        #expect(try await provider.request(Ask.bearer).statusCode == 200)
        #expect(bench.sent == ["Bearer mine"])
    }

    @Test(
        "A08 If a refresh ends the session, waiting calls fail, even if a user logs in before onChange returns"
    )
    func logInDuringReport() async throws {
        let bench = TokenBench(isGated: true, refuses: "old")
        let (sheet, close) = AsyncStream.makeStream(of: Void.self)
        let plugin = TokenRefreshPlugin(
            credential: Session(accessToken: "old"),
            onChange: { session, reason in
                if reason == .sessionEnd { for await _ in sheet {} }
                bench.note(session, reason)
            },
            refresh: { old, _ in
                _ = try await bench.refresh(old)
                return nil
            }
        )
        let calls = calls(3, of: bench.provider(plugin))
        await bench.waitForCallers(3, of: plugin)
        try await bench.openGate()
        await TokenBench.wait { plugin.credential == nil }
        let logIn = Task { await plugin.setCredential(Session(accessToken: "another")) }
        #expect(await codes(calls) == [.sessionEnded, .sessionEnded, .sessionEnded])
        #expect(bench.sent.allSatisfy { $0 == "Bearer old" })
        #expect(bench.changes == [])
        close.finish()
        await logIn.value
        await TokenBench.wait { bench.changes == [.init(nil, .sessionEnd), .init("another", .logIn)] }
    }

    @Test("A08 When another user logs in, waiting calls fail without being sent and run no handler")
    func switched() async throws {
        let bench = TokenBench(isGated: true) { _ in true }
        let plugin = bench.plugin(expiresIn: .zero)
        let calls = calls(3, of: bench.provider(handled.plugin, plugin))
        await bench.waitForCallers(3, of: plugin)
        await plugin.setCredential(Session(accessToken: "another"))
        #expect(await codes(calls) == [.sessionEnded, .sessionEnded, .sessionEnded])
        #expect(bench.sent == [])
        #expect(handled.statuses == [])
        #expect(bench.changes == [.init("another", .logIn)])
    }

    // MARK: Calls that come late

    /// How the session of another user begins.
    enum Switch: CaseIterable {
        case logOut, refresh, logIn
    }

    private func change(_ plugin: TokenRefreshPlugin<Session>, _ how: Switch) async {
        if how == .logOut { await plugin.setCredential(nil) }
        await plugin.setCredential(Session(accessToken: "another"))
    }

    @Test(
        "A08 A call that an outer plugin holds until another user logs in fails, even the first call",
        arguments: Switch.allCases,
        [true, false]
    )
    func heldBack(how: Switch, isFirst: Bool) async throws {
        let bench = TokenBench(refuses: "refused")
        let plugin = TokenRefreshPlugin(credential: Session(accessToken: "old")) { _, _ in nil }
        let queue = PluginStack.prepare { _, context in
            if (context.target as? Ask)?.path == "/0" { try await bench.gate.sleep(for: .seconds(1)) }
        }
        let provider = bench.provider(queue, plugin)
        if !isFirst { #expect(try await provider.request(Ask.bearer).statusCode == 200) }
        let call = calls(1, of: provider)
        try await bench.gate.waitForSleepers()
        bench.clock.advance(by: .seconds(3_600))
        if how == .refresh {
            await plugin.setCredential(Session(accessToken: "refused"), continuesSession: true)
            #expect(await codes([Task { try await provider.request(Ask.bearer) }]) == [.sessionEnded])
        }
        await change(plugin, how)
        #expect(try await provider.request(Ask.bearer).statusCode == 200)
        try await bench.openGate()
        #expect(await codes(call) == [.sessionEnded])
        #expect(bench.sent.last == "Bearer another")
        #expect(bench.sent.count { $0 == "Bearer another" } == 1)
    }

    @Test(
        "A call that an outer plugin holds until the first login uses the newest token of that session"
    )
    func heldUntilLogIn() async throws {
        let bench = TokenBench { _ in true }
        let plugin = bench.plugin(nil)
        let queue = PluginStack.prepare { _, _ in try await bench.gate.sleep(for: .seconds(1)) }
        let call = calls(1, of: bench.provider(queue, plugin))
        try await bench.gate.waitForSleepers()
        bench.clock.advance(by: .seconds(3_600))
        await plugin.setCredential(Session(accessToken: "first"))
        await plugin.setCredential(Session(accessToken: "second"), continuesSession: true)
        try await bench.openGate()
        #expect(try await statuses(call) == [200])
        #expect(bench.sent == ["Bearer second"])
    }

    @Test(
        "A08 When a session ends, refused calls fail once each with their 401, and the handlers run once",
        arguments: End.allCases
    )
    func refused(end: End) async throws {
        let bench = TokenBench(isGated: true, refusesAfter: .seconds(1)) { _ in false }
        let plugin = plugin(bench, end)
        let calls = calls(50, of: bench.provider(handled.plugin, RetryPlugin(), plugin))
        try await bench.clock.waitForSleepers(50)
        bench.clock.advance(by: .seconds(1))
        await bench.waitForCallers(50, of: plugin)
        try await finish(end, plugin, bench)
        let errors = await errors(calls)
        #expect(errors.allSatisfy { $0?.code == .sessionEnded && $0?.response?.data == Data("no".utf8) })
        #expect(errors.allSatisfy { $0?.plugin == "TokenRefreshPlugin" && $0?.exchanges.count == 1 })
        #expect(bench.sent == Array(repeating: "Bearer old", count: 50))
        #expect(handled.statuses == [401])
        await TokenBench.wait { bench.changes == [end.change] }
    }

    @Test(
        "A08 A call refused after a logout fails and runs no handler, even if a user is logged in by then",
        arguments: [true, false],
        [Switch.logOut, .logIn]
    )
    func refusedLater(isReplayable: Bool, how: Switch) async throws {
        let bench = TokenBench(refuses: "old")
        let transport = ScriptedTransport { request, _ in
            request.headers[.authorization] == "Bearer old" ? .delayed(.seconds(1), .status(401)) : .status(200)
        }
        let body = PluginStack.prepare { request, _ in
            guard !isReplayable else { return }
            request.method = .post
            request.body = .stream(AsyncStream { $0.finish() })
        }
        let plugin = bench.plugin()
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [handled.plugin, body, plugin],
            configuration: .init(clock: bench.clock)
        )
        let call = Task { try await provider.request(.bearer) }
        try await bench.clock.waitForSleepers()
        await change(plugin, how)
        bench.clock.advance(by: .seconds(1))
        let error = await #expect(throws: PipelineError.self) { try await call.value }
        #expect(error?.code == .sessionEnded)
        #expect(error?.response?.statusCode == 401)
        #expect(handled.statuses == [])
        #expect(transport.sent.count == 1)
        #expect(bench.expired == [])
        #expect(plugin.credential?.accessToken == "another")
    }

    @Test(
        "A08 A call retried after its session ended fails and never uses the token of a later login",
        arguments: [Switch.logOut, .logIn]
    )
    func retriedLater(how: Switch) async throws {
        let bench = TokenBench { _ in true }
        let plugin = bench.plugin()
        let retry = PluginStack.intercept { request, _, next in
            _ = try await next(request)
            await change(plugin, how)
            return try await next(request)
        }
        let provider = bench.provider(handled.plugin, retry, plugin)
        let error = await #expect(throws: PipelineError.self) { try await provider.request(Ask.bearer) }
        #expect(error?.code == .sessionEnded)
        #expect(handled.statuses == [])
        #expect(bench.sent == ["Bearer old"])
    }

    // MARK: Without a failure

    @Test("With sendAll, a call retried after another user logged in is sent without a token")
    func retriedWithoutToken() async throws {
        let bench = TokenBench { _ in true }
        let plugin = bench.plugin(policy: TokenRefreshPolicy(withoutCredential: .sendAll))
        let retry = PluginStack.intercept { request, _, next in
            _ = try await next(request)
            await plugin.setCredential(Session(accessToken: "another"))
            return try await next(request)
        }
        _ = try await bench.provider(retry, plugin).request(Ask.bearer)
        #expect(bench.sent == ["Bearer old", nil])
    }

    @Test("With sendAll, a logout returns the 401s of refused calls and sends the others without a token")
    func logOutWithoutToken() async throws {
        let bench = TokenBench(isGated: true) { _ in false }
        let plugin = bench.plugin(policy: TokenRefreshPolicy(withoutCredential: .sendAll))
        let provider = bench.provider(handled.plugin, plugin)
        let sent = calls(1, of: provider)
        await bench.waitForCallers(1, of: plugin)
        let unsent = calls(1, of: provider)
        await bench.waitForCallers(2, of: plugin)
        await plugin.setCredential(nil)
        #expect(try await statuses(sent + unsent) == [401, 401])
        #expect(bench.sent == ["Bearer old", nil])
        #expect(handled.statuses == [401, 401])
        await TokenBench.wait { bench.gate.sleeperCount == 0 }
        #expect(plugin.credential == nil)
    }

    @Test("With sendAll, a call returns its 401 if the refresh returns nil or the session has already ended")
    func refreshWithoutToken() async throws {
        let bench = TokenBench { _ in false }
        let plugin = plugin(bench, .refresh, policy: TokenRefreshPolicy(withoutCredential: .sendAll))
        let transport = ScriptedTransport { request, _ in
            request.path == "/slow" ? .delayed(.seconds(1), .status(401)) : .status(401, body: "no")
        }
        let provider = Provider<Ask>(transport: transport, plugins: [plugin], configuration: .init(clock: bench.clock))
        let slow = Task { try await provider.request(Ask(path: "/slow", authorizationType: .bearer)) }
        try await bench.clock.waitForSleepers()
        #expect(try await provider.request(.bearer).data == Data("no".utf8))
        bench.clock.advance(by: .seconds(1))
        #expect(try await slow.value.statusCode == 401)
        _ = try await provider.request(.bearer)
        #expect(transport.sent.map { $0.headers[.authorization] } == ["Bearer old", "Bearer old", nil])
        await TokenBench.wait { bench.changes == [.init(nil, .sessionEnd)] }
    }

    // MARK: Without a user

    @Test("If obtain returns nil, waiting calls fail with sessionEnded, and the next call tries anew")
    func obtainsNothing() async throws {
        let bench = TokenBench { _ in true }
        let isWilling = Atomic(false)
        let plugin = TokenRefreshPlugin<Session>(
            onChange: { bench.note($0, $1) },
            obtain: { old, _ in isWilling.load(ordering: .relaxed) ? try await bench.refresh(old) : nil }
        )
        let provider = bench.provider(handled.plugin, plugin)
        let error = await #expect(throws: PipelineError.self) { try await provider.request(Ask.bearer) }
        #expect(error?.code == .sessionEnded)
        #expect(bench.sent == [])
        #expect(handled.statuses == [nil])
        #expect(bench.changes == [])
        isWilling.store(true, ordering: .relaxed)
        #expect(try await provider.request(Ask.bearer).statusCode == 200)
        await plugin.setCredential(nil)
        #expect(try await provider.request(Ask.bearer).statusCode == 200)
        #expect(bench.sent == ["Bearer t1", "Bearer t2"])
        #expect(bench.changes == [.init("t1", .refresh), .init(nil, .logOut), .init("t2", .refresh)])
    }
}
