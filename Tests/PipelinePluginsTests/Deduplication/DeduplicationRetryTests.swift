import Foundation
import Pipeline
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

    /// Calls whose second member is two seconds late to see the failure that it shares, at one second.
    private static func resultsWithLateMember(
        _ retry: RetryPlugin,
        deadline: Duration? = nil
    ) async -> (results: [Result<PipelineResponse, any Error>], bench: SharedFailureBench) {
        let late = PluginStack.intercept(name: "late") { request, context, next in
            let response = try await next(request)
            if context.callID == 2, response.statusCode == 503 { try await context.clock.sleep(for: .seconds(2)) }
            return response
        }
        let limit = PluginStack.prepare(name: "deadline") { _, context in
            if let deadline { context.setDeadline(context.start.advanced(by: deadline)) }
        }
        let bench = SharedFailureBench([limit, retry, late, DeduplicationPlugin()]) { _, index in
            .status(index == 0 ? 503 : 200)
        }
        // Time must not pass before both have begun to wait.
        let results = await bench.clock.run { [bench] in
            await withTaskGroup(of: (Int, Result<PipelineResponse, any Error>).self) { group in
                for number in 0..<2 {
                    group.addTask {
                        do {
                            return (number, .success(try await bench.provider.request(Ask())))
                        } catch {
                            return (number, .failure(error))
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        return (results.sorted { $0.0 < $1.0 }.map(\.1), bench)
    }

    @Test("D09 A call that is late to see the shared failure retries at the time of the others")
    func lateMember() async {
        let (results, bench) = await Self.resultsWithLateMember(RetryPlugin(backoff: .constant(.seconds(5))))
        #expect(results.map(\.response?.statusCode) == [200, 200])
        #expect(bench.transport.sent.count == 2)
        #expect(bench.clock.now.offset == .seconds(6))
    }

    @Test("D09 T08 A call whose deadline passed before it saw the shared failure gives the failure back")
    func lateMemberAfterDeadline() async {
        let (results, _) = await Self.resultsWithLateMember(
            RetryPlugin(backoff: .constant(.seconds(1))),
            deadline: .milliseconds(2_500)
        )
        #expect(results.map(\.response?.statusCode) == [200, 503])
        #expect(results.last?.response?.exchanges.last?.refusedRetry == nil)
    }
}
