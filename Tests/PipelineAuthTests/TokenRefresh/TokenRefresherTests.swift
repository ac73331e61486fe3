import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("TokenRefreshPlugin: one refresh for many calls", .tags(.concurrent), .watched)
struct TokenRefresherTests: TokenCalls {
    @Test("A01 1,000 parallel 401s cause 1 refresh, and each call is retried once")
    func thousand() async throws {
        let bench = TokenBench(isGated: true, refusesAfter: .seconds(1), refuses: "old")
        let plugin = bench.plugin()
        let calls = calls(1_000, of: bench.provider(plugin))
        try await bench.clock.waitForSleepers(1_000)
        bench.clock.advance(by: .seconds(1))
        await bench.waitForCallers(1_000, of: plugin)
        try await bench.openGate()
        #expect(try await statuses(calls).allSatisfy { $0 == 200 })
        #expect(bench.expired == ["old"])
        #expect(bench.sent.count { $0 == "Bearer old" } == 1_000)
        #expect(bench.sent.count { $0 == "Bearer t1" } == 1_000)
        #expect(Set(bench.transport.sent.dropFirst(1_000).map(\.path)).count == 1_000)
        #expect(plugin.waitingCount == 0)
    }

    @Test("Calls that begin during a refresh wait for it, even those of another provider with the plugin")
    func twoProviders() async throws {
        let bench = TokenBench(isGated: true, refuses: "old")
        let plugin = bench.plugin()
        let first = calls(1, of: bench.provider(plugin))
        await bench.waitForCallers(1, of: plugin)
        let others = calls(3, of: bench.provider(plugin))
        await bench.waitForCallers(4, of: plugin)
        #expect(bench.sent == ["Bearer old"])
        try await bench.openGate()
        #expect(try await statuses(first + others) == [200, 200, 200, 200])
        #expect(bench.expired == ["old"])
    }

    @Test("All providers that share the plugin use the clock of the first call")
    func firstClock() async throws {
        let bench = TokenBench { _ in false }
        let plugin = bench.plugin(policy: TokenRefreshPolicy(maximumCount: 1))
        _ = try await bench.provider(plugin).request(Ask.bearer)
        let other = ManualClock()
        other.advance(by: .seconds(1_000))
        let provider = Provider<Ask>(transport: bench.transport, plugins: [plugin], configuration: .init(clock: other))
        let error = await #expect(throws: PipelineError.self) { try await provider.request(.bearer) }
        #expect(error?.code == .excessiveRefresh)
        bench.clock.advance(by: .seconds(30))
        #expect(try await provider.request(.bearer).statusCode == 401)
    }

    @Test("A04 A 401 for a token replaced meanwhile is retried with the current token, without a refresh")
    func lateRefusal() async throws {
        let bench = TokenBench { _ in true }
        let transport = ScriptedTransport { request, _ in
            guard request.headers[.authorization] == "Bearer old" else { return .status(200) }
            return request.path == "/slow" ? .delayed(.seconds(5), .status(401)) : .status(401)
        }
        let plugin = bench.plugin()
        let provider = Provider<Ask>(transport: transport, plugins: [plugin], configuration: .init(clock: bench.clock))
        let slow = Task { try await provider.request(Ask(path: "/slow", authorizationType: .bearer)) }
        try await bench.clock.waitForSleepers()
        #expect(try await provider.request(.bearer).statusCode == 200)
        bench.clock.advance(by: .seconds(5))
        #expect(try await slow.value.statusCode == 200)
        #expect(bench.expired == ["old"])
        #expect(transport.sent.map { $0.headers[.authorization] }.count { $0 == "Bearer t1" } == 2)
    }

    // MARK: A02

    @Test(
        "A02 A failed refresh fails all waiting calls unsent; the credential stays and the next call refreshes"
    )
    func failure() async throws {
        let bench = TokenBench(isGated: true, refusesAfter: .seconds(1), refuses: "old")
        bench.fail()
        let plugin = bench.plugin()
        let provider = bench.provider(plugin)
        let calls = calls(10, of: provider)
        try await bench.clock.waitForSleepers(10)
        bench.clock.advance(by: .seconds(1))
        await bench.waitForCallers(10, of: plugin)
        try await bench.openGate()
        for call in calls {
            let error = await #expect(throws: PipelineError.self) { try await call.value }
            #expect(error?.code == .tokenRefresh)
            #expect(error?.underlyingError is TokenBench.Refused)
            #expect(error?.plugin == "TokenRefreshPlugin")
        }
        #expect(bench.sent == Array(repeating: "Bearer old", count: 10))
        #expect(plugin.credential?.accessToken == "old")
        bench.fail(false)
        await TokenBench.wait { bench.clock.sleeperCount == 0 }
        let next = Task { try await provider.request(Ask.bearer) }
        try await bench.clock.waitForSleepers()
        bench.clock.advance(by: .seconds(1))
        try await bench.openGate()
        #expect(try await next.value.statusCode == 200)
        #expect(bench.expired == ["old", "old"])
    }

    @Test(
        "A02 A call sent before a refresh failed and refused afterwards fails without its own refresh"
    )
    func lateFailure() async throws {
        let bench = TokenBench { _ in true }
        bench.fail()
        let transport = ScriptedTransport { request, _ in
            request.path == "/slow" ? .delayed(.seconds(5), .status(401)) : .status(401)
        }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [bench.plugin()],
            configuration: .init(clock: bench.clock)
        )
        let slow = Task { try await provider.request(Ask(path: "/slow", authorizationType: .bearer)) }
        try await bench.clock.waitForSleepers()
        await #expect(throws: PipelineError.self) { try await provider.request(.bearer) }
        bench.clock.advance(by: .seconds(5))
        let error = await #expect(throws: PipelineError.self) { try await slow.value }
        #expect(error?.code == .tokenRefresh)
        #expect(error?.response?.statusCode == 401)
        #expect(bench.expired == ["old"])
    }

    @Test(
        "A02 A hanging refresh times out for all waiting calls, even if it ignores cancellation",
        arguments: [true, false]
    )
    func hangs(heedsCancellation: Bool) async throws {
        let bench = TokenBench(refuses: "old")
        let number = Atomic(0)
        let plugin = TokenRefreshPlugin(
            credential: Session(accessToken: "old"),
            policy: TokenRefreshPolicy(timeout: .seconds(7))
        ) { _, context in
            guard number.add(1, ordering: .relaxed).newValue == 1 else { return Session(accessToken: "new") }
            let task = Task { try await ManualClock().sleep(for: .seconds(1)) }
            if !heedsCancellation { try await task.value }
            try await ManualClock().sleep(for: .seconds(1))
            return nil
        }
        let provider = bench.provider(plugin)
        let calls = calls(5, of: provider)
        await bench.waitForCallers(5, of: plugin)
        try await bench.clock.waitForSleepers()
        bench.clock.advance(by: .seconds(6))
        #expect(plugin.waitingCount == 5)
        bench.clock.advance(by: .seconds(1))
        let codes = await codes(calls)
        #expect(codes == Array(repeating: .timeout(.tokenRefresh), count: 5))
        #expect(try await provider.request(Ask.bearer).statusCode == 200)
    }

    @Test("A02 A credential that arrives after the timeout is kept unless there is a newer one")
    func lateCredential() async throws {
        let bench = TokenBench(refuses: "old")
        let plugin = TokenRefreshPlugin(credential: Session(accessToken: "old")) { old, _ in
            await Task { try? await bench.gate.sleep(for: .seconds(1)) }.value
            return try await bench.refresh(old)
        }
        let provider = bench.provider(plugin)
        let call = Task { try await provider.request(Ask.bearer) }
        try await bench.gate.waitForSleepers()
        try await bench.clock.waitForSleepers()
        bench.clock.advance(by: .seconds(30))
        #expect(await codes([call]) == [.timeout(.tokenRefresh)])
        try await bench.openGate()
        await TokenBench.wait { plugin.credential?.accessToken == "t1" }
        #expect(try await provider.request(Ask.bearer).statusCode == 200)
        #expect(bench.expired == ["old"])
    }

    @Test("A02 A cancelled call stops waiting at once, even the one that began the refresh; others continue")
    func cancelOne() async throws {
        let bench = TokenBench(isGated: true, refuses: "old")
        let plugin = bench.plugin()
        let provider = bench.provider(plugin)
        let first = calls(1, of: provider)
        try await bench.gate.waitForSleepers()
        let others = calls(3, of: provider)
        await bench.waitForCallers(4, of: plugin)
        first[0].cancel()
        await #expect(throws: CancellationError.self) { try await first[0].value }
        #expect(plugin.waitingCount == 3)
        #expect(bench.gate.sleeperCount == 1)
        try await bench.openGate()
        #expect(try await statuses(others) == [200, 200, 200])
        #expect(bench.expired == ["old"])
    }

    @Test("A10 When the last waiting call leaves, the refresh goes on, and the next call joins it")
    func cancelAll() async throws {
        let bench = TokenBench(isGated: true, refuses: "old")
        let plugin = bench.plugin()
        let provider = bench.provider(plugin)
        let calls = calls(3, of: provider)
        await bench.waitForCallers(3, of: plugin)
        try await bench.gate.waitForSleepers()
        for call in calls { call.cancel() }
        #expect(await codes(calls) == [.cancelled, .cancelled, .cancelled])
        #expect(bench.gate.sleeperCount == 1)
        let next = Task { try await provider.request(Ask.bearer) }
        await bench.waitForCallers(1, of: plugin)
        try await bench.openGate()
        #expect(try await next.value.statusCode == 200)
        #expect(bench.expired == ["old"])
        #expect(bench.mostRunning == 1)
    }

    @Test("A10 A refresh that no call waits for stores its token, which the next call uses")
    func unwatched() async throws {
        let bench = TokenBench(isGated: true, refuses: "old")
        let plugin = bench.plugin()
        let provider = bench.provider(plugin)
        let call = calls(1, of: provider)
        try await bench.gate.waitForSleepers()
        call[0].cancel()
        #expect(await codes(call) == [.cancelled])
        try await bench.openGate()
        await TokenBench.wait { bench.changes == [TokenBench.Change("t1", .refresh)] }
        #expect(try await provider.request(Ask.bearer).statusCode == 200)
        #expect(bench.expired == ["old"])
    }

    @Test("A10 A refresh that no call waits for ends at its own time limit")
    func unwatchedTimeout() async throws {
        let bench = TokenBench(isGated: true, refuses: "old")
        let plugin = bench.plugin(policy: TokenRefreshPolicy(timeout: .seconds(7)))
        let provider = bench.provider(plugin)
        let call = calls(1, of: provider)
        try await bench.gate.waitForSleepers()
        call[0].cancel()
        #expect(await codes(call) == [.cancelled])
        try await bench.clock.waitForSleepers()
        #expect(try await bench.clock.advanceToNextSleeper() == .seconds(7))
        await TokenBench.wait { bench.gate.sleeperCount == 0 }
        let next = calls(1, of: provider)
        try await bench.openGate()
        #expect(try await statuses(next) == [200])
        #expect(bench.expired == ["old", "old"])
    }

    // MARK: Credentials set by the application

    @Test(
        "Setting a credential cancels the refresh; waiting calls use the credential if it continues the session"
    )
    func setMeanwhile() async throws {
        let bench = TokenBench(isGated: true, refuses: "old")
        let plugin = bench.plugin()
        let calls = calls(3, of: bench.provider(plugin))
        await bench.waitForCallers(3, of: plugin)
        try await bench.gate.waitForSleepers()
        await plugin.setCredential(Session(accessToken: "mine"), continuesSession: true)
        #expect(try await statuses(calls) == [200, 200, 200])
        await TokenBench.wait { bench.gate.sleeperCount == 0 }
        #expect(bench.sent.count { $0 == "Bearer mine" } == 3)
        #expect(plugin.credential?.accessToken == "mine")
    }

    @Test("A refresh result that arrives after another credential was set is discarded")
    func setBeforeEnd() async throws {
        let bench = TokenBench(refuses: "old")
        let kept = Atomic(0)
        let ended = Atomic(false)
        let plugin = TokenRefreshPlugin(
            credential: Session(accessToken: "old"),
            onChange: { _, reason in if reason == .refresh { kept.add(1, ordering: .relaxed) } },
            refresh: { _, _ in
                await Task { try? await bench.gate.sleep(for: .seconds(1)) }.value
                ended.store(true, ordering: .sequentiallyConsistent)
                return Session(accessToken: "late")
            }
        )
        let call = Task { try await bench.provider(plugin).request(Ask.bearer) }
        try await bench.gate.waitForSleepers()
        try await bench.clock.waitForSleepers()
        await plugin.setCredential(Session(accessToken: "mine"), continuesSession: true)
        #expect(try await call.value.statusCode == 200)
        try await bench.openGate()
        await TokenBench.wait { ended.load(ordering: .sequentiallyConsistent) && bench.clock.sleeperCount == 0 }
        #expect(plugin.credential?.accessToken == "mine")
        #expect(kept.load(ordering: .relaxed) == 0)
    }
}
