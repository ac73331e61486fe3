import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Rule 21: limiting and ending background calls", .tags(.concurrent), .watched)
struct BackgroundCallsTests {
    private let clock = ManualClock()
    private let journal = Journal()
    private let cache = BackgroundCallTests.StaleCache()

    private func provider(
        _ transport: ScriptedTransport,
        limits: ProviderConfiguration.Limits = ProviderConfiguration.Limits(),
        _ plugins: any PluginType...
    ) -> Provider<TestTarget> {
        Provider(transport: transport, plugins: plugins, configuration: .init(limits: limits, clock: clock))
    }

    private var delayed: ScriptedTransport {
        ScriptedTransport(always: .delayed(.seconds(5), .status(200, body: "new")))
    }

    private func note(_ text: String, _ context: PipelineContext) {
        journal.add("\(text) \(context.callID) of \(context.parentID.map(String.init) ?? "none")")
    }

    @Test("Rule 15: at most 16 background calls are in flight, and one that ends makes room for another")
    func bound() async throws {
        let provider = provider(delayed, cache)
        for _ in 0..<20 { _ = try await provider.request(TestTarget()) }
        #expect(cache.refused.load(ordering: .relaxed) == 4)
        try await clock.waitForSleepers(16)
        clock.advance(by: .seconds(5))
        #expect(await provider.drain(within: .seconds(1)))
        _ = try await provider.request(TestTarget())
        #expect(cache.refused.load(ordering: .relaxed) == 4)
        #expect(cache.kept.withLock { $0.count } == 16)
        provider.shutdown()
    }

    @Test("drain waits at most the given time and ends if its task is cancelled")
    func drain() async throws {
        let provider = provider(delayed, cache)
        #expect(await provider.drain(within: .zero))
        _ = try await provider.request(TestTarget())
        try await clock.waitForSleepers()
        let short = Task { await provider.drain(within: .seconds(2)) }
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(2))
        #expect(await short.value == false)
        #expect(await provider.drain(within: .zero) == false)
        let cancelled = Task { await provider.drain(within: .seconds(60)) }
        try await clock.waitForSleepers(2)
        cancelled.cancel()
        #expect(await cancelled.value == false)
        clock.advance(by: .seconds(3))
        #expect(await provider.drain(within: .seconds(1)))
    }

    @Test("shutdown cancels background calls and refuses new ones, and the user's own calls still work")
    func shutdown() async throws {
        let end = PluginStack.didFinish { [self] outcome, context in note("\(outcome.kind)", context) }
        let provider = provider(delayed, end, cache)
        _ = try await provider.request(TestTarget())
        try await clock.waitForSleepers()
        provider.shutdown()
        #expect(await provider.drain(within: .seconds(1)))
        #expect(cache.kept.withLock { $0 } == ["failed"])
        #expect(journal.entries == ["success 1 of none", "cancelled 2 of 1"])
        #expect(try await provider.request(TestTarget()).statusCode == 203)
        #expect(cache.refused.load(ordering: .relaxed) == 1)
    }
}
