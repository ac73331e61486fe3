import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("RetryPlugin: attempts and options of a call", .tags(.concurrent), .watched)
struct RetryRulesTests {
    @Test("maximumAttempts includes the first attempt: 3 sends the request 3 times", arguments: [1, 2, 3, 7])
    func attempts(maximum: Int) async {
        let bench = RetryBench(ScriptedTransport(always: .status(503)), [RetryPlugin(maximumAttempts: maximum)])
        let outcome = await bench.outcome()
        #expect(bench.transport.sent.count == maximum)
        #expect(outcome.attempts == Array(1...maximum))
        #expect(outcome.refusal == (maximum == 1 ? nil : .attemptsUsedUp))
        #expect(bench.clock.waits.count == maximum - 1)
    }

    @Test("Each option of a call overrides the plugin's setting")
    func options() async {
        let transport = ScriptedTransport(always: .status(503))
        let bench = RetryBench(transport, [RetryPlugin(backoff: .constant(.seconds(2)))])
        _ = await bench.outcome(Ask(), .init { $0.retry = .never })
        #expect(transport.sent.count == 1)
        _ = await bench.outcome(Ask(), .init { $0.retry = .init(maximumAttempts: 5) })
        #expect(transport.sent.count == 6)
        #expect(bench.clock.waits == Array(repeating: .seconds(2), count: 4))
        _ = await bench.outcome(Ask(), .init { $0.retry = .init(backoff: .constant(.seconds(7))) })
        #expect(transport.sent.count == 9)
        #expect(bench.clock.waits.suffix(2) == [.seconds(7), .seconds(7)])
        _ = await bench.outcome(Ask(), .init { $0.retry = .init(policy: RetryPolicy(statusCodes: [])) })
        #expect(transport.sent.count == 10)
        _ = await bench.outcome(Ask(options: .init { $0.retry = .never }))
        #expect(transport.sent.count == 11)
    }
}
