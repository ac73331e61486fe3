import Foundation
import Pipeline
import PipelineCaching
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("RateLimitPlugin", .tags(.concurrent), .watched)
struct RateLimitPluginTests {
    private static let slow = RateLimit(1, per: .seconds(10))

    /// Records outcomes of calls.
    private final class Outcomes: Stage.DidFinish {
        private let list = Mutex<[Stage.Outcome]>([])

        var all: [Stage.Outcome] { list.withLock { $0 } }

        func didFinish(_ outcome: Stage.Outcome, context: PipelineContext) { list.withLock { $0.append(outcome) } }
    }

    @Test("It conforms to the rules for plugins")
    func conformance() async {
        #expect(await PluginConformance { RateLimitPlugin() }.run() == [])
        #expect(await PluginConformance { RateLimitPlugin(RateLimit(1_000_000, per: .seconds(1))) }.run() == [])
    }

    @Test("A request that must not wait is refused, with the time until the next permit")
    func refusal() async throws {
        let outcomes = Outcomes()
        let bench = RateLimitBench(CountingServer(), [RateLimitPlugin(Self.slow, maximumWait: .zero), outcomes])
        try await bench.clock.run {
            #expect(await bench.call() == "200")
            try await bench.clock.sleep(for: .seconds(4))
            let error = await #expect(throws: PipelineError.self) { try await bench.provider.request(Ask()) }
            #expect(error?.code == .limit(.rate))
            let wait = try #require(error?.retryAfter)
            #expect(abs(wait / .seconds(1) - 6) < 0.001)
        }
        #expect(bench.server.count == 1)
        #expect(outcomes.all.map { $0.annotations.map(\.event) } == [[], ["refused"]])
    }

    @Test("A wait that would outlast maximumWait or the deadline is refused at once; a shorter one is not")
    func tooLong() async {
        for seconds in [9, 11] {
            let allowed = seconds > 10
            let plugin = RateLimitPlugin(Self.slow, maximumWait: .seconds(seconds))
            let bench = RateLimitBench(CountingServer(), [plugin])
            #expect(await bench.calls(2) == ["200", allowed ? "200" : "limit.rate"])
            let timed = RateLimitBench(
                CountingServer(),
                [TimeoutPlugin(total: .seconds(seconds)), RateLimitPlugin(Self.slow)]
            )
            #expect(await timed.calls(2) == ["200", allowed ? "200" : "limit.rate"])
            #expect(timed.clock.now.offset < .seconds(10.1))
        }
    }

    @Test("A full line refuses further calls")
    func full() async {
        let bench = RateLimitBench(CountingServer(), [RateLimitPlugin(Self.slow, maximumWaitingCount: 2)])
        #expect(await bench.calls(5).sorted() == ["200", "200", "200", "limit.rate", "limit.rate"])
    }

    @Test("The error of a full line has no time, because the next permit belongs to another call")
    func fullTime() async throws {
        let bench = RateLimitBench(CountingServer(), [RateLimitPlugin(Self.slow, maximumWaitingCount: 0)])
        await bench.calls(1)
        let error = await #expect(throws: PipelineError.self) { try await bench.provider.request(Ask()) }
        #expect(error?.code == .limit(.rate))
        #expect(error?.retryAfter == nil)
    }

    @Test("The plugin is degraded while calls wait")
    func healthOfWaiting() async throws {
        let bench = RateLimitBench(CountingServer(), [RateLimitPlugin(Self.slow)])
        try await bench.clock.run {
            try await withThrowingTaskGroup { group in
                for _ in 0..<3 { group.addTask { _ = await bench.call() } }
                try await bench.clock.sleep(for: .seconds(1))
                #expect(bench.provider.health.map(\.status) == [.degraded])
                #expect(bench.provider.health.first?.details == ["https://a.test": "2 waiting"])
                group.cancelAll()
            }
        }
        #expect(bench.provider.health.map(\.status) == [.healthy])
    }

    @Test("A cost above a billion is a mistake of the program")
    func costs() async {
        await #expect(processExitsWith: .failure) { _ = RequestOptions { $0.cost = 1_000_000_001 } }
        #expect(RequestOptions { $0.cost = 1_000_000_000 }.cost == 1_000_000_000)
    }

    @Test("A cancelled call leaves the line at once, and takes no permit")
    func cancellation() async {
        let bench = RateLimitBench(CountingServer(), [RateLimitPlugin(Self.slow)])
        await bench.clock.run {
            _ = await bench.call()
            await withTaskGroup { group in
                group.addTask { #expect(await bench.call() == "CancellationError") }
                try? await bench.clock.sleep(for: .seconds(1))
                group.cancelAll()
            }
            #expect(bench.clock.now.offset == .seconds(1))
            _ = await bench.call()
        }
        #expect(bench.server.arrivals(after: bench.start)[1] < 10.1)
        #expect(bench.server.count == 2)
    }

    @Test("Waits are annotated with their duration, and the exchange that closed the gate with that of the gate")
    func annotations() async throws {
        let outcomes = Outcomes()
        let server = CountingServer { request, _ in
            PipelineResponse(request, request.head.path == "/0" ? 429 : 200, [.retryAfter: "30"])
        }
        let bench = RateLimitBench(server, [RateLimitPlugin(), outcomes])
        await bench.calls(1)
        #expect(await bench.calls(2) == ["429", "200"])
        let annotations = outcomes.all.map { $0.annotations.map { "\($0)" } }
        #expect(annotations[0] == ["RateLimitPlugin gated 30 s"])
        #expect(annotations[1] == ["RateLimitPlugin waited 30 s", "RateLimitPlugin gated 30 s"])
        #expect(outcomes.all[1].exchanges.map(\.annotations.count) == [2])
    }

    @Test("The plugin is degraded while a gate is closed, without the keys of own partitions")
    func health() async {
        for (partition, details) in [
            (TrafficPartition.authority, ["https://a.test": "closed for 30 s"]),
            (TrafficPartition { _, _ in "key" }, ["custom partitions": "1 closed, throttled or with waiting calls"]),
        ] {
            let server = CountingServer { request, _ in PipelineResponse(request, 429, [.retryAfter: "30"]) }
            let bench = RateLimitBench(server, [RateLimitPlugin(partition: partition)])
            #expect(bench.provider.health.map(\.status) == [.healthy])
            await bench.calls(1)
            #expect(bench.provider.health.map(\.status) == [.degraded])
            #expect(bench.provider.health.first?.details == details)
            bench.clock.advance(by: .seconds(30))
            #expect(bench.provider.health.map(\.status) == [.healthy])
        }
    }

    @Test("Positions outside a cache and two limits are reported")
    func order() {
        func rules(_ plugins: [any PluginType]) -> [String] {
            Provider<Ask>(transport: CountingServer(), plugins: plugins).explain().findings.map(\.id)
        }
        let limit = ConcurrencyLimitPlugin(.fixed(1))
        #expect(rules([CachePlugin(), RateLimitPlugin(), limit]).filter { $0.hasPrefix("rate") }.isEmpty)
        #expect(rules([RateLimitPlugin(), CachePlugin()]).contains("rate-limit-outside-cache"))
        #expect(rules([limit, RateLimitPlugin()]).contains("rate-limit-inside-concurrency-limit"))
    }
}
