import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("RetryBudget", .tags(.concurrent), .watched)
struct RetryBudgetTests {
    static let origin = Date(timeIntervalSince1970: 1_767_225_600)

    static func budget(_ ratio: Double, _ perSecond: Double = 0) -> RetryPlugin {
        RetryPlugin(backoff: .immediate, budget: RetryBudget(ratio: ratio, minimumPerSecond: perSecond))
    }

    @Test("T03 10,000 calls to a failing server make at most 1.2 times as many attempts, plus a reserve")
    func storm() async {
        let transport = ScriptedTransport(always: .status(503))
        let bench = RetryBench(transport, [RetryPlugin(backoff: .immediate)])
        var refused = 0
        for _ in 0..<10_000 where await bench.outcome().refusal == .budget { refused += 1 }
        #expect(transport.sent.count <= 12_100)
        #expect(transport.sent.count >= 12_099)
        #expect(refused > 8_000)
    }

    @Test(
        "A call over budget returns its outcome at once with the reason; the next window allows retries"
    )
    func usedUp() async {
        let bench = RetryBench(ScriptedTransport(always: .status(503)), [Self.budget(0, 0.3)])
        #expect(await bench.outcome().exchanges.count == 3)
        let second = await bench.outcome()
        #expect(second.exchanges.count == 2)
        #expect(second.refusal == .budget)
        #expect(await bench.outcome().exchanges.count == 1)
        bench.clock.advance(by: .seconds(8.9))
        #expect(await bench.outcome().exchanges.count == 1)
        bench.clock.advance(by: .seconds(1.2))
        #expect(await bench.outcome().exchanges.count == 3)
    }

    @Test("A call that is not retried for another reason takes nothing from the budget")
    func spared() async {
        let transport = ScriptedTransport(always: .status(503))
        let bench = RetryBench(transport, [Self.budget(0, 0.1)])
        for _ in 0..<20 {
            #expect(await bench.outcome(Ask(method: .post)).refusal == .methodNotIdempotent)
            #expect(await bench.outcome(Ask(), .init { $0.retry = .never }).exchanges.count == 1)
        }
        #expect(await bench.outcome().exchanges.count == 2)
    }

    @Test("Calls that are not retried also add to the budget")
    func everyCallCounts() async {
        let bench = RetryBench(ScriptedTransport(always: .status(503)), [Self.budget(0.5)])
        for _ in 0..<2 { _ = await bench.outcome(Ask(), .init { $0.retry = .never }) }
        #expect(await bench.outcome().exchanges.count == 2)
    }

    @Test("A call that a plugin responds to without an exchange adds nothing to the budget")
    func withoutExchange() async {
        let cache = PluginStack.intercept(name: "Cache") { request, context, next in
            context.options.avoidLogError
                ? PipelineResponse(request: request, statusCode: 200) : try await next(request)
        }
        let bench = RetryBench(ScriptedTransport(always: .status(503)), [Self.budget(1), cache])
        for _ in 0..<3 { #expect(await bench.outcome(Ask(), .init { $0.avoidLogError = true }).text == "200") }
        #expect(await bench.outcome().exchanges.count == 2)
    }

    @Test("A failure before any exchange is retried without regard to the budget")
    func unsent() async {
        let failure = PipelineError(.connectionLost, "by script")
        let attempts = Mutex(0)
        let failing = PluginStack.intercept(name: "Failing") { _, _, _ in
            attempts.withLock { $0 += 1 }
            throw failure
        }
        let bench = RetryBench(ScriptedTransport(always: .status(200)), [Self.budget(0), failing])
        #expect(await bench.outcome().text == failure.code.rawValue)
        #expect(attempts.withLock { $0 } == 3)
    }

    @Test("Copies of the plugin share a budget; separate plugins do not")
    func copies() async {
        let transport = ScriptedTransport(always: .status(503))
        let plugin = Self.budget(0, 0.1)
        #expect(await RetryBench(transport, [plugin]).outcome().exchanges.count == 2)
        let copy = plugin
        #expect(await RetryBench(transport, [copy]).outcome().refusal == .budget)
        #expect(await RetryBench(transport, [Self.budget(0, 0.1)]).outcome().exchanges.count == 2)
    }

    @Test("Without a budget the policy alone decides")
    func unlimited() async {
        let bench = RetryBench(
            ScriptedTransport(always: .status(503)),
            [RetryPlugin(backoff: .immediate, budget: .unlimited)]
        )
        for _ in 0..<100 { #expect(await bench.outcome().exchanges.count == 3) }
    }

    @Test("Of 1,000 concurrent calls, no more are retried than the budget allows")
    func atOnce() async {
        let transport = ScriptedTransport(always: .status(503))
        let bench = RetryBench(transport, [Self.budget(0.1, 5)])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<1_000 { group.addTask { _ = await bench.outcome() } }
        }
        #expect(transport.sent.count == 1_150)
    }
}
