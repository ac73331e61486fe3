import Dispatch
import Pipeline
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

@Suite("CircuitBreakerPlugin outside a line", .tags(.concurrent), .watched)
struct CircuitBreakerLineTests {
    /// A server that responds to the first request with 500 after a second.
    private static let failing = ScriptedTransport { _, index in
        .delayed(.seconds(1), .status(index == 0 ? 500 : 200))
    }

    private func outcomes(_ bench: BreakerBench, _ count: Int) async -> [String] {
        await bench.clock.run {
            await withTaskGroup(of: String.self) { group in
                for number in 0..<count { group.addTask { await bench.send(Ask(path: "/\(number)")) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
    }

    @Test("V05: when a circuit opens, all requests that wait for a permit fail at once, and none is sent")
    func permits() async {
        let transport = ScriptedTransport { _, _ in .delayed(.seconds(1), .status(500)) }
        let bench = BreakerBench(transport, [CircuitBreakerPlugin.touchy(), ConcurrencyLimitPlugin(.fixed(1))])
        let start = bench.clock.now
        let all = await outcomes(bench, 150)
        // The permit of the first request may go to another before the circuit has seen the response.
        #expect(transport.sent.count <= 2)
        #expect(all.count { $0 == "circuitOpen" } == 150 - transport.sent.count)
        #expect(start.duration(to: bench.clock.now) <= .seconds(2))
        // Nothing is left of those that waited.
        #expect(bench.provider.health.first { $0.plugin == "ConcurrencyLimitPlugin" }?.status == .healthy)
    }

    @Test("V05: the same holds for requests that wait for a rate limit, also with a limit of concurrency inside")
    func rates() async {
        for inside in [[], [ConcurrencyLimitPlugin(.fixed(1))]] as [[any PluginType]] {
            let transport = ScriptedTransport { _, _ in .delayed(.milliseconds(1_500), .status(500)) }
            let rate = RateLimitPlugin(RateLimit(1, per: .seconds(1)))
            let bench = BreakerBench(transport, [CircuitBreakerPlugin.touchy(), rate] + inside)
            let all = await outcomes(bench, 50)
            #expect(all.count { $0 == "circuitOpen" } == 50 - transport.sent.count)
            #expect(transport.sent.count <= 2)
        }
    }

    @Test("A circuit that is isolated by hand also empties the line; one that closes lets later requests wait again")
    func isolated() async {
        let breaker = CircuitBreakerPlugin.touchy()
        let transport = ScriptedTransport { _, _ in .delayed(.seconds(1), .status(200)) }
        let bench = BreakerBench(transport, [breaker, ConcurrencyLimitPlugin(.fixed(1))])
        let all = await bench.clock.run {
            await withTaskGroup(of: String.self) { group in
                for number in 0..<10 { group.addTask { await bench.send(Ask(path: "/\(number)")) } }
                try? await bench.clock.sleep(for: .milliseconds(500))
                breaker.isolate()
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(all.count { $0 == "circuitOpen" } == 9)
        breaker.reset()
        #expect(await outcomes(bench, 3) == ["200", "200", "200"])
    }

    /// Runs the parts of tasks one after the other.
    private final class OneThread: TaskExecutor {
        private let queue = DispatchQueue(label: "one thread")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// A plugin that refuses all calls after those that prepare it.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: String
        let plugin: any PluginType
        /// The number of calls before the first refusal, and after which all are refused.
        var preparation = 0
        var isHeld = false

        static let all = [
            Refusal(
                testDescription: "circuit",
                code: "circuitOpen",
                plugin: CircuitBreakerPlugin.touchy(),
                preparation: 1
            ),
            Refusal(
                testDescription: "queue",
                code: "limit.concurrency",
                plugin: ConcurrencyLimitPlugin(.fixed(1), queue: 0),
                isHeld: true
            ),
            Refusal(
                testDescription: "rate",
                code: "limit.rate",
                plugin: RateLimitPlugin(RateLimit(1, per: .seconds(100)), maximumWait: .zero),
                preparation: 1
            ),
            // Of these, one call in 200 would be sent.
            Refusal(testDescription: "throttling", code: "limit.rate", plugin: RateLimitPlugin(), preparation: 2_000),
        ]
    }

    @Test("V08: a loop of refused calls lets others run", arguments: Refusal.all)
    func refusedLoop(_ refusal: Refusal) async throws {
        let transport = ScriptedTransport { _, _ in
            refusal.isHeld ? .hang : .status(refusal.code == "circuitOpen" ? 500 : 429)
        }
        let bench = BreakerBench(transport, [refusal.plugin])
        for _ in 0..<refusal.preparation { await bench.send() }
        let held = refusal.isHeld ? Task { await bench.send() } : nil
        if held != nil { try await transport.waitForRequests(1) }
        let (others, executor) = (Tally(), OneThread())
        let loop = Task(executorPreference: executor) {
            let other = Task(executorPreference: executor) { _ = others.add() }
            for _ in 0..<100 where others.value == 0 { #expect(await bench.send() == refusal.code) }
            let hasRun = others.value == 1
            await other.value
            return hasRun
        }
        #expect(await loop.value)
        held?.cancel()
        _ = await held?.value
    }

    @Test("V04: breaks grow while the probes fail, up to the maximum, and begin anew after a success")
    func growth() async {
        let isUp = Tally()
        let transport = ScriptedTransport { _, _ in .status(isUp.value == 0 ? 500 : 200) }
        let breaker = CircuitBreakerPlugin(
            failureRatio: 1,
            minimumCallCount: 1,
            window: .count(1),
            breakDuration: .seconds(1),
            maximumBreakDuration: .seconds(10)
        )
        let bench = BreakerBench(transport, [breaker])
        var breaks: [Duration] = []
        for _ in 0..<7 {
            #expect(await bench.send() == "500")
            guard let wait = await bench.error()?.retryAfter else { break }
            breaks.append(wait)
            bench.clock.advance(by: wait)
        }
        #expect(breaks.first.map { (.seconds(0.8) ... .seconds(1.2)).contains($0) } == true)
        #expect(breaks.last == .seconds(10) && breaks.count == 7)
        for (earlier, later) in zip(breaks, breaks.dropFirst()) where later < .seconds(10) {
            #expect((1.6...2.4).contains(later / earlier))
        }
        isUp.add()
        #expect(await bench.send() == "200")
        #expect(breaker.state(of: "https://a.test") == .closed)
    }

    @Test("V04: a slow success counts as a failure if the breaker knows what is slow")
    func slow() async {
        for (limit, state) in [(nil, CircuitState.closed), (.seconds(2), .closed), (.seconds(1), .open)]
            as [(Duration?, CircuitState)]
        {
            let transport = ScriptedTransport { _, _ in .delayed(.seconds(1), .status(200)) }
            let breaker = CircuitBreakerPlugin(
                failureRatio: 1,
                minimumCallCount: 1,
                window: .count(1),
                slowCallDuration: limit
            )
            let bench = BreakerBench(transport, [breaker])
            #expect(await bench.clock.run { await bench.send() } == "200")
            #expect(breaker.state(of: "https://a.test") == state)
        }
    }
}
