import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("DeduplicationPlugin inside RetryPlugin", .tags(.concurrent), .watched)
struct DeduplicationRetryTests {
    private typealias Bench = DeduplicationBench

    @Test("A policy's wasSent is correct for joined calls too", arguments: [true, false])
    func wasSent(_ isSent: Bool) async {
        let seen = Mutex<[Bool]>([])
        let policy = RetryPolicy { outcome in
            seen.withLock { $0.append(outcome.wasSent) }
            return .giveBack
        }
        let bench = Bench(outside: [RetryPlugin(policy: policy)]) { _ in isSent ? .status(503) : .failure(.dns) }
        let calls = await bench.begin(3)
        await bench.answer()
        _ = await calls.results
        #expect(seen.withLock { $0 } == [isSent, isSent, isSent])
    }

    @Test("No caller retries a shared POST that was redirected")
    func redirectedPost() async {
        let bench = Bench(outside: [RetryPlugin(backoff: .immediate)]) { index in
            index == 0 ? .status(307, headers: [.location: "https://b.test/c"]) : .failure(.dns)
        }
        let target = Ask(
            method: .post,
            task: .requestData(Data("x".utf8)),
            options: .init { $0.deduplication = .on }
        )
        let calls = await bench.begin(3) { _ in target }
        await bench.runOut(calls)
        #expect(await calls.results.map(\.text) == ["dns", "dns", "dns"])
        #expect(bench.transport.sent.count == 2)
    }

    @Test(
        "T03 D01 1,000 callers that share a 503 succeed with one retry, which the budget counts once"
    )
    func crowd() async {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 0.1)
        let bench = Bench(outside: [RetryPlugin(backoff: .immediate, budget: budget)]) {
            $0 == 0 ? .status(503) : .status(200, body: "fine")
        }
        let calls = await bench.begin(1_000)
        await bench.runOut(calls)
        #expect(Set(await calls.results.map(\.text)) == ["fine"])
        #expect(bench.transport.sent.count == 2)
    }
}
