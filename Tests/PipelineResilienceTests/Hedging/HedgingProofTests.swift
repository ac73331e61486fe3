import Foundation
import Pipeline
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

@Suite(
    "HedgingPlugin: calls to a server that delays 1 % of its responses by a second",
    .tags(.concurrent),
    .watched
)
struct HedgingProofTests {
    /// What many calls took, 100 per second.
    private struct Run {
        let percentile99: Duration
        let requestCount: Int
        let hedgeCount: Int

        init(
            _ plugins: [any PluginType],
            seed: UInt64,
            callCount: Int = 10_000,
            spread: Duration = .milliseconds(10),
            _ ask: Ask = Ask()
        ) async throws {
            let clock = ManualClock()
            let server = TailServer(seed: seed, spread: spread)
            let provider = Provider<Ask>(
                transport: server,
                plugins: plugins,
                configuration: .init(clock: clock, random: .seeded(seed))
            )
            let durations = try await clock.run {
                try await withThrowingTaskGroup(of: Duration.self) { group in
                    for number in 0..<callCount {
                        group.addTask {
                            try await clock.sleep(for: .milliseconds(10 * number))
                            let start = clock.now
                            _ = try await provider.request(ask)
                            return start.duration(to: clock.now)
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            percentile99 = durations.sorted()[callCount * 99 / 100]
            requestCount = server.requestCount
            hedgeCount = server.hedgeCount
        }

        /// Whether the run is as much better than one without a plugin as the plugin promises.
        func proves(against other: Run) -> Bool {
            percentile99 <= other.percentile99 * 0.2 && requestCount * 100 <= other.requestCount * 102
        }
    }

    @Test("The 99th percentile falls by at least 80 % for at most 2 % more requests")
    func proof() async throws {
        let seed: UInt64 = 1
        let without = try await Run([RetryPlugin()], seed: seed)
        #expect(without.requestCount == 10_000)
        #expect(without.percentile99 > .seconds(1))
        let retry = RetryPlugin()
        let hedged = try await Run([retry, HedgingPlugin(budget: retry.budget)], seed: seed)
        print("p99", without.percentile99, hedged.percentile99, "requests", hedged.requestCount, hedged.hedgeCount)
        #expect(hedged.proves(against: without))
        #expect(!without.proves(against: without))
        #expect(hedged.requestCount == 10_000 + hedged.hedgeCount)
    }

    @Test("A percentile sends about the share of requests twice that it says, for as long as it runs")
    func share() async throws {
        let retry = RetryPlugin(budget: .unlimited)
        let plugin = HedgingPlugin(after: .percentile(0.95), budget: retry.budget)
        let run = try await Run([retry, plugin], seed: 4, callCount: 10_000, spread: .milliseconds(200))
        print("hedges", run.hedgeCount)
        #expect((450...550).contains(run.hedgeCount))
    }

    @Test("A POST without an idempotency key is never sent twice; one with a key and the option is")
    func post() async throws {
        let retry = RetryPlugin()
        let plugins: [any PluginType] = [retry, HedgingPlugin(budget: retry.budget)]
        let post = try await Run(plugins, seed: 1, callCount: 3_000, Ask(method: .post))
        #expect(post.requestCount == 3_000)
        #expect(post.hedgeCount == 0)
        let options = RequestOptions {
            $0.idempotencyKey = .generated
            $0.hedging = .percentile(0.985)
        }
        let repeatable = try await Run(plugins, seed: 1, callCount: 3_000, Ask(method: .post, options: options))
        #expect(repeatable.hedgeCount > 15)
    }

    @Test("The copies take from the budget, which allows 50 of 100")
    func budget() async throws {
        let budget = RetryBudget(ratio: 0.005, minimumPerSecond: 0, window: .seconds(3_600))
        let retry = RetryPlugin(budget: budget)
        let run = try await Run(
            [retry, HedgingPlugin(after: .fixed(.milliseconds(50)), budget: retry.budget)],
            seed: 5
        )
        #expect((49...51).contains(run.hedgeCount))
    }
}
