import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineTesting
import Synchronization
import Testing

@Suite("DeduplicationPlugin inside RetryPlugin")
struct DeduplicationRetryTests {
    private typealias Bench = DeduplicationBench

    @Test("A policy is told that a request was sent also for the calls that have joined it", arguments: [true, false])
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

    @Test("A shared POST that a redirect has led on is not sent again, by none of those who share it")
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
        await bench.runOut()
        #expect(await calls.results.map(\.text) == ["dns", "dns", "dns"])
        #expect(bench.transport.sent.count == 2)
    }

    @Test(
        "T03 D01 Of 1,000 callers of one answer with 503 all are helped by a retry, which the budget counts once for each exchange"
    )
    func crowd() async {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 0.1)
        let bench = Bench(outside: [RetryPlugin(backoff: .immediate, budget: budget)]) {
            $0 == 0 ? .status(503) : .status(200, body: "fine")
        }
        let calls = await bench.begin(1_000)
        #expect(Set(await results(of: calls, bench).map(\.text)) == ["fine"])
        #expect(bench.transport.sent.count < 20)
    }

    @Test("T03 Exchanges of those who share are at most one per call, and the budget")
    func crowdOfFailures() async {
        let budget = RetryBudget(ratio: 0.2, minimumPerSecond: 0)
        let bench = Bench(outside: [RetryPlugin(budget: budget)]) { _ in .status(503) }
        let calls = await bench.begin(100)
        #expect(await results(of: calls, bench).allSatisfy { $0.response?.statusCode == 503 })
        #expect(bench.transport.sent.count <= 120)
    }

    /// What the calls come to while time passes.
    private func results(
        of calls: [Bench.Call],
        _ bench: Bench
    ) async -> [Result<PipelineResponse, any Error>] {
        let done = Tally()
        let work = Task {
            let results = await calls.results
            done.add()
            return results
        }
        // Not before all who are helped by one exchange have gone on: time would end the next one for some of them.
        var (callerCount, stillness) = (-1, 0)
        await eventually {
            stillness = bench.plugin.callerCount == callerCount ? stillness + 1 : 0
            callerCount = bench.plugin.callerCount
            if stillness > 0, stillness.isMultiple(of: 20) { bench.clock.advanceIfAnyoneSleeps() }
            return done.value > 0
        }
        return await work.value
    }
}
