import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("RetryPlugin: call option", .tags(.concurrent), .watched)
struct RequestOptionsRetryTests {
    @Test("C22 A call retries the statuses of its policy at once, up to maximumAttempts")
    func codyFire() async {
        let options = RequestOptions {
            $0.retry = .init(maximumAttempts: 4, policy: RetryPolicy(statusCodes: [404]), backoff: .immediate)
        }
        let bench = RetryBench(ScriptedTransport(always: .status(404)))
        let outcome = await bench.outcome(Ask(), options)
        #expect(outcome.text == "404")
        #expect(bench.transport.sent.count == 4)
        #expect(bench.clock.waits.isEmpty)
        let other = RetryBench(ScriptedTransport(always: .status(503)))
        _ = await other.outcome(Ask(), options)
        #expect(other.transport.sent.count == 1)
    }
}
