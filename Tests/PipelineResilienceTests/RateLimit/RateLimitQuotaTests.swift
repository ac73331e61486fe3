import Pipeline
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

@Suite("RateLimitPlugin: quota", .tags(.concurrent), .watched)
struct RateLimitQuotaTests {
    private static let limit = RateLimit(100, per: .seconds(1))

    @Test(
        "3,000 calls with delays on the way never exceed the limit in any period, and use the permitted share of it",
        arguments: [(50_000, 50, 1, 0.973), (50_000, 50, 100, 0.981), (30_000, 30, 1, 0.983), (0, 50, 1, 0.999)]
            as [(Int64, Int, Int, Double)]
    )
    func quota(delay: Int64, jitter: Int, burst: Int, share: Double) async {
        let limit = RateLimit(100, per: .seconds(1), burst: burst, jitter: .milliseconds(jitter))
        let bench = RateLimitBench(CountingServer(delay: 0...delay), [RateLimitPlugin(limit)])
        let outcomes = await bench.calls(3_000)
        #expect(outcomes.allSatisfy { $0 == "200" })
        #expect(bench.server.highestCount(in: .seconds(1)) == 100)
        #expect(bench.server.rate >= 100 * share, "\(bench.server.rate)")
    }

    @Test("With delays on the way back, too, the limit is not exceeded")
    func slowResponses() async {
        let server = CountingServer(delay: 0...50_000) { request, context in
            var random = context.random
            try await context.clock.sleep(for: .milliseconds(Int.random(in: 0...200, using: &random)))
            return PipelineResponse(request: request, statusCode: 200)
        }
        let bench = RateLimitBench(server, [RateLimitPlugin(Self.limit)])
        await bench.calls(3_000)
        #expect(server.highestCount(in: .seconds(1)) == 100)
        #expect(server.rate >= 94, "\(server.rate)")
    }

    @Test("Without the plugin, the same calls exceed the limit at once")
    func withoutPlugin() async {
        let bench = RateLimitBench(CountingServer(delay: 0...50_000), [])
        await bench.calls(3_000)
        #expect(bench.server.highestCount(in: .seconds(1)) == 3_000)
    }

    @Test("Requests are spaced evenly, and those of a burst are not")
    func spacing() async {
        let even = RateLimitBench(CountingServer(), [RateLimitPlugin(RateLimit(10, per: .seconds(1)))])
        await even.calls(30)
        let gaps = zip(even.server.arrivals(after: even.start), even.server.arrivals(after: even.start).dropFirst())
            .map { $1 - $0 }
        #expect(gaps.prefix(9).allSatisfy { $0 > 0.099_9 })
        #expect(gaps.allSatisfy { $0 > 0.049_9 })
        let burst = RateLimitBench(CountingServer(), [RateLimitPlugin(RateLimit(10, per: .seconds(1), burst: 4))])
        await burst.calls(5)
        let moments = burst.server.arrivals(after: burst.start)
        #expect(moments.prefix(4).allSatisfy { $0 == 0 })
        #expect(moments[4] > 0.04)
        #expect(burst.server.highestCount(in: .seconds(1)) == 5)
    }

    @Test("A cost counts that many times; one above the limit is refused")
    func costs() async throws {
        let bench = RateLimitBench(CountingServer(delay: 0...50_000), [RateLimitPlugin(Self.limit)])
        let outcomes = await bench.calls(1_000) { index in .init { $0.cost = index % 7 + 1 } }
        #expect(outcomes.allSatisfy { $0 == "200" })
        #expect(bench.server.highestCount(in: .seconds(1)) <= 100)
        #expect(bench.server.highestCount(in: .seconds(1)) >= 95)
        #expect(await bench.calls(1) { _ in .init { $0.cost = 101 } } == ["limit.rate"])
    }

    @Test("A higher priority goes first, and the lowest gets its share")
    func priorities() async throws {
        let bench = RateLimitBench(CountingServer(), [RateLimitPlugin(Self.limit)])
        await bench.calls(60) { index in .init { $0.priority = [.low, .normal, .high][index % 3] } }
        let order = try bench.server.paths.dropFirst().map { try #require(Int($0.dropFirst())) % 3 }
        let places = (0..<3).map { rank in
            order.enumerated().filter { $0.element == rank }.map(\.offset).reduce(0, +)
        }
        #expect(places[2] < places[1])
        #expect(places[1] < places[0])
        #expect(order.prefix(20).contains(0))
    }

    @Test("A request without a connection takes no permit, and any other failure does", arguments: [true, false])
    func failures(isRefused: Bool) async {
        let server = CountingServer { _, _ in
            throw PipelineError(isRefused ? .connect(.refused) : .connectionLost, "by test")
        }
        let bench = RateLimitBench(server, [RateLimitPlugin(RateLimit(2, per: .seconds(1), burst: 2))])
        await bench.calls(3)
        let last = server.arrivals(after: bench.start)[2]
        #expect(isRefused ? last < 0.6 : last > 1)
    }

    @Test("Authorities have limits of their own by default, and partitions divide or join them")
    func partitions() async {
        func seconds(_ partition: TrafficPartition) async -> Double {
            let plugin = RateLimitPlugin(RateLimit(1, per: .seconds(10)), partition: partition)
            let bench = RateLimitBench(CountingServer(), [plugin])
            await bench.clock.run {
                await withTaskGroup { group in
                    for host in ["a", "b"] {
                        group.addTask {
                            _ = try? await bench.provider.request(Ask(url: "https://\(host).test"))
                        }
                    }
                }
            }
            return bench.server.arrivals(after: bench.start).max() ?? -1
        }
        #expect(await seconds(.authority) == 0)
        #expect(await seconds(.shared) > 10)
        #expect(await seconds(TrafficPartition { request, _ in request.head.path ?? "" }) > 10)
    }

    @Test("A limit of a million keeps few moments, and still is not exceeded")
    func largeLimit() async {
        let plugin = RateLimitPlugin(RateLimit(1_000_000, per: .seconds(1), burst: 1_000_000))
        let bench = RateLimitBench(CountingServer(delay: 0...50_000), [plugin])
        let outcomes = await bench.calls(300) { _ in .init { $0.cost = 10_000 } }
        #expect(outcomes.allSatisfy { $0 == "200" })
        #expect(bench.server.highestCount(in: .seconds(1)) == 1_000_000)
        #expect(bench.server.arrivals(after: bench.start).max() ?? 9 < 2.2)
    }
}
