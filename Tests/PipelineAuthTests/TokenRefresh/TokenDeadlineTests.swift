import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import TestSupport
import Testing

@Suite("TokenRefreshPlugin: deadlines of waiting calls", .tags(.concurrent), .watched)
struct TokenDeadlineTests: TokenCalls {
    private let bench = TokenBench(isGated: true, refuses: "old")

    /// Expects that no call waits, that the refresh goes on, and that a new call uses its token.
    private func expectUsable(_ plugin: TokenRefreshPlugin<Session>) async throws {
        #expect(plugin.waitingCount == 0)
        let next = calls(1, of: bench.provider(plugin))
        await bench.waitForCallers(1, of: plugin)
        try await bench.openGate()
        #expect(try await statuses(next) == [200])
        #expect(bench.expired == ["old"])
        #expect(plugin.credential?.accessToken == "t1")
    }

    @Test("A07 A10 Calls past their deadline do not join a refresh, which goes on without its last waiter")
    func passed() async throws {
        let plugin = bench.plugin()
        let first = calls(1, of: bench.provider(plugin))
        await bench.waitForCallers(1, of: plugin)
        try await bench.gate.waitForSleepers()
        let late = calls(50, of: bench.provider(deadline(.zero), plugin))
        #expect(await codes(late) == Array(repeating: .timeout(.total), count: 50))
        #expect(plugin.waitingCount == 1)
        #expect(bench.gate.sleeperCount == 1)
        #expect(bench.sent == ["Bearer old"])
        first[0].cancel()
        await #expect(throws: CancellationError.self) { try await first[0].value }
        try await expectUsable(plugin)
    }

    @Test(
        "A07 A10 If the deadline of the last waiting call passes, the call fails and the refresh goes on",
        arguments: [false, true]
    )
    func passes(isEnforced: Bool) async throws {
        let plugin = bench.plugin()
        let limit: any PluginType = isEnforced ? TimeoutPlugin(total: .seconds(3)) : deadline(.seconds(3))
        let calls = calls(5, of: bench.provider(limit, plugin))
        await bench.waitForCallers(5, of: plugin)
        try await bench.gate.waitForSleepers()
        try await bench.clock.waitForSleepers(isEnforced ? 11 : 6)
        bench.clock.advance(by: .seconds(3))
        #expect(await codes(calls) == Array(repeating: .timeout(.total), count: 5))
        try await expectUsable(plugin)
    }

    @Test(
        "A07 A10 If the deadline passes during or after discarding the 401's body, the call fails and the refresh goes on",
        arguments: [[500], [1_000, 2_000]]
    )
    func passesWhileReading(steps: [Int]) async throws {
        let stalled = AsyncStream<Data> { _ in }
        let transport = ScriptedTransport(always: .status(401, body: .stream(stalled)))
        let plugin = bench.plugin()
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [deadline(.milliseconds(steps.reduce(0, +))), plugin],
            configuration: .init(clock: bench.clock)
        )
        let call = Task { try await provider.stream(.bearer).statusCode }
        await bench.waitForCallers(1, of: plugin)
        try await bench.gate.waitForSleepers()
        for step in steps {
            // The sleepers are the time limits of the refresh and the reading; the deadline later replaces the latter.
            try await bench.clock.waitForSleepers(2)
            #expect(try await bench.clock.advanceToNextSleeper() == .milliseconds(step))
        }
        let error = await #expect(throws: PipelineError.self) { try await call.value }
        #expect(error?.code == .timeout(.total))
        #expect(error?.response?.statusCode == 401)
        try await expectUsable(plugin)
    }

    @Test("A07 A call past its deadline is not sent and does not make the plugin obtain its first credential")
    func obtains() async throws {
        let plugin = TokenRefreshPlugin<Session> { [bench] old, _ in try await bench.refresh(old) }
        let late = calls(3, of: bench.provider(deadline(.zero), plugin))
        #expect(await codes(late) == Array(repeating: .timeout(.total), count: 3))
        #expect(bench.sent == [] && bench.expired == [])
        #expect(plugin.waitingCount == 0)
    }
}
