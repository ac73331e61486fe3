import Pipeline
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("PluginStack.standard(.resilient) under load", .tags(.concurrent), .watched)
struct ResilienceLoadTests {
    private static func bench(_ transport: ScriptedTransport) -> BreakerBench {
        BreakerBench(transport, [PluginStack.standard(.resilient, logging: .off)])
    }

    /// Makes calls to different resources at the same time, and returns how many ended in each way.
    private static func burst(_ count: Int, of latency: Duration) async -> [String: Int] {
        let bench = bench(ScriptedTransport(always: .delayed(latency, .status(200))))
        return await bench.clock.run {
            await withTaskGroup(of: String.self) { group in
                for number in 0..<count { group.addTask { await bench.send(Ask(path: "/\(number)")) } }
                return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
        }
    }

    @Test("V02: a burst of 500 calls of 50 ms succeeds")
    func burst() async {
        #expect(await Self.burst(500, of: .milliseconds(50)) == ["200": 500])
    }

    @Test("V02: 200 calls are in progress and 1,000 wait; further ones are refused")
    func queue() async {
        #expect(await Self.burst(1_300, of: .seconds(1)) == ["200": 1_200, "limit.concurrency": 100])
    }

    private struct Outcome: Sendable {
        let start: Duration
        let result: String
    }

    /// Makes 50 calls per second that do not wait for each other.
    private static func load(_ bench: BreakerBench, seconds: Int) async -> [Outcome] {
        await bench.clock.run {
            await withTaskGroup(of: Outcome.self) { group in
                for number in 0..<50 * seconds {
                    let start = Duration.milliseconds(20 * number)
                    group.addTask {
                        try? await bench.clock.sleep(until: bench.clock.origin.advanced(by: start))
                        return Outcome(start: start, result: await bench.send(Ask(path: "/\(number)")))
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
    }

    @Test("V04: if 20 % of the requests fail at random, at least 99 % of the calls succeed")
    func randomErrors() async {
        let random = Mutex(PipelineRandom.seeded(1))
        let transport = ScriptedTransport { _, _ in
            .status(random.withLock { Double.random(in: 0..<1, using: &$0) } < 0.2 ? 500 : 200)
        }
        let outcomes = await Self.load(Self.bench(transport), seconds: 100)
        let count = outcomes.count { $0.result == "200" }
        #expect(count >= 4_950, "\(count) of \(outcomes.count)")
    }

    /// An outage that begins after 10 s of 50 calls per second.
    private struct Outage {
        /// When the requests during the outage were sent, in seconds since its begin.
        let failures: [Double]
        /// The number of calls that were refused after it.
        let refusedCount: Int

        init(seconds: Int) async {
            let clock = ManualClock()
            let moments = Results<Double>()
            let transport = ScriptedTransport { _, _ in
                let moment = clock.now.offset / .seconds(1) - 10
                guard (0..<Double(seconds)).contains(moment) else { return .status(200) }
                moments.add(moment)
                return .status(500)
            }
            let stack = PluginStack.standard(.resilient, logging: .off)
            let outcomes = await load(BreakerBench(transport, [stack], clock: clock), seconds: 30 + seconds)
            failures = moments.all
            let end = Duration.seconds(10 + seconds)
            refusedCount = outcomes.count { $0.start >= end && $0.result == "circuitOpen" }
            #expect(outcomes.count { $0.start >= end && $0.result == "200" } == 1_000 - refusedCount)
        }
    }

    @Test("V04: an outage opens the circuit after 80 requests, in 0.83 s, and breaks grow from about 1 s to 5 s")
    func opening() async {
        let failures = await Outage(seconds: 20).failures
        #expect(failures.count >= 80 && failures[79] <= 0.83, "\(failures.prefix(80).last ?? 0)")
        let breaks = zip(failures.dropFirst(79), failures.dropFirst(80)).map { $1 - $0 }
        #expect(breaks.count >= 5)
        // A probe is the next call after a break, up to 20 ms later.
        for (index, length) in breaks.enumerated() {
            let range = index == 0 ? 0.8...1.22 : breaks[index - 1] * 1.55...breaks[index - 1] * 2.45
            #expect(range.contains(length) || (5...5.02).contains(length), "\(breaks)")
        }
        #expect(breaks.last.map { (5...5.02).contains($0) } == true, "\(breaks)")
    }

    @Test("V04: after an outage of 3 s, fewer than 50 of 1,000 calls are refused, and after one of 20 s fewer than 250")
    func recovery() async {
        for (seconds, count) in [(3, 50), (20, 250)] {
            let refusedCount = await Outage(seconds: seconds).refusedCount
            #expect((1..<count).contains(refusedCount), "\(refusedCount)")
        }
    }
}
