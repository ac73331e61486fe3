import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// Calls that retry and send copies, alone and together, with each of the stacks.
@Suite("Plugins of another package in place of ours: retries and copies", .watched)
struct StrangersRetryTests {
    private typealias Bench = StrangersBench
    private typealias Call = StrangersCall

    private static let stacks = StrangersStack.allCases

    private static func options(_ change: (inout RequestOptions) -> Void) -> RequestOptions { RequestOptions(change) }

    // MARK: Retries

    @Test(
        "D09 200 equal calls make 2 exchanges if the server fails once, 3 if it always fails",
        arguments: stacks,
        [true, false]
    )
    func jointRetries(stack: StrangersStack, failsOnce: Bool) async {
        for delay in [.zero, .milliseconds(50), .seconds(1)] as [Duration] {
            let bench = Bench(stack) { _, index in
                let status = index > 0 && failsOnce ? 200 : 503
                let delay = index == 0 ? .seconds(1) : delay
                return delay == .zero ? .status(status) : .delayed(delay, .status(status))
            }
            let results = await bench.results(200)
            #expect(results.allSatisfy { $0.response?.statusCode == (failsOnce ? 200 : 503) })
            #expect(bench.transport.sent.count == (failsOnce ? 2 : 3), "delay \(delay)")
        }
    }

    @Test(
        "D09 Calls that shared a failure retry at one moment, although a plugin delays some of them",
        arguments: stacks
    )
    func jointMoment(stack: StrangersStack) async {
        let moments = Mutex<Set<PipelineClock.Instant>>([])
        let delaying = PluginStack.process { _, context in
            try? await context.clock.sleep(for: .milliseconds(context.callID % 10))
        }
        let watching = PluginStack.prepare { _, context in
            if context.attempt > 1 { _ = moments.withLock { $0.insert(context.clock.now) } }
        }
        let bench = Bench(stack, authentication: [delaying, watching]) { _, index in
            .delayed(.seconds(1), .status(index == 0 ? 503 : 200))
        }
        #expect(await bench.results(50).allSatisfy { $0.response?.statusCode == 200 })
        #expect(moments.withLock { $0.count } == 1)
    }

    @Test("D09 A call that is late for the retry of the others gets its result", arguments: stacks, [true, false])
    func lateRetry(stack: StrangersStack, failsOnce: Bool) async {
        let delaying = PluginStack.prepare { _, context in
            guard context.attempt > 1 else { return }
            try await context.clock.sleep(for: .milliseconds(context.callID % 50 * 20))
        }
        let bench = Bench(stack, authentication: [delaying]) { _, index in
            .delayed(.milliseconds(100), .status(index > 0 && failsOnce ? 200 : 503))
        }
        let results = await bench.results(50)
        #expect(results.allSatisfy { $0.response?.statusCode == (failsOnce ? 200 : 503) })
        #expect(bench.transport.sent.count == (failsOnce ? 2 : 3))
    }

    @Test("An attempt that fails without an exchange does not belong to an earlier shared outcome", arguments: stacks)
    func attemptWithoutExchange(stack: StrangersStack) async {
        let moments = Mutex<[Int: [PipelineClock.Instant]]>([:])
        let failing = PluginStack.prepare { _, context in
            let attempt = context.attempt
            if attempt == 2 { try await context.clock.sleep(for: .seconds(3)) }
            moments.withLock { $0[attempt, default: []].append(context.clock.now) }
            if attempt == 2 { throw PipelineError(.connectionLost, "by test") }
        }
        let bench = Bench(stack, authentication: [failing]) { _, index in
            .delayed(.seconds(1), .status(index == 0 ? 503 : 200))
        }
        #expect(await bench.results(5).allSatisfy { $0.response?.statusCode == 200 })
        let (second, third) = moments.withLock { ($0[2]?.max(), $0[3]?.min()) }
        if let second, let third { #expect(second < third) } else { Issue.record("the calls made fewer attempts") }
    }

    @Test("D09 T03 Calls that share a failure pay for one retry", arguments: stacks)
    func jointBudget(stack: StrangersStack) async {
        let bench = Bench(stack, budget: RetryBudget(ratio: 0, minimumPerSecond: 0.1)) { _, _ in
            .delayed(.seconds(1), .status(503))
        }
        let results = await bench.results(100)
        #expect(results.allSatisfy { $0.response?.statusCode == 503 })
        #expect(bench.transport.sent.count == 2)
        #expect(results.contains { $0.exchanges.last?.refusedRetry == .budget })
    }

    @Test("T03 Of calls to a server that often fails, no more are retried than the budget permits", arguments: stacks)
    func budget(stack: StrangersStack) async {
        let budget = RetryBudget(ratio: 0.1, minimumPerSecond: 0, window: .seconds(3_600))
        let bench = Bench(stack, budget: budget) { _, index in .status(index % 10 < 6 ? 503 : 200) }
        _ = await bench.results((0..<300).map { Call(Ask(path: "/\($0)")) })
        #expect((315...330).contains(bench.transport.sent.count))
    }

    @Test("T03 A copy and a retry are taken from one budget", arguments: stacks)
    func sharedBudget(stack: StrangersStack) async {
        let bench = Bench(stack, budget: RetryBudget(ratio: 0, minimumPerSecond: 0.1)) { _, _ in
            .delayed(.seconds(6), .status(503))
        }
        #expect(await bench.get().response?.statusCode == 503)
        #expect(bench.transport.sent.count == 2)
    }

    @Test("T01 A retry waits for Retry-After, unless that takes too long", arguments: stacks)
    func retryAfter(stack: StrangersStack) async {
        for (value, range, count) in [
            ("0", 0.0...1, 2), ("5", 5...6, 2), ("3600", 0...0, 1), ("99999999999999999999", 0...0, 1),
        ] as [(String, ClosedRange<Double>, Int)] {
            let bench = Bench(stack) { _, index in
                index == 0 ? .status(503, headers: [.retryAfter: value]) : .status(200)
            }
            let start = bench.clock.now
            let result = await bench.get()
            #expect(result.response?.statusCode == (count == 1 ? 503 : 200), "\(value)")
            #expect(range.contains(start.duration(to: bench.clock.now) / .seconds(1)), "\(value)")
            #expect(bench.transport.sent.count == count)
            #expect(result.exchanges.first?.refusedRetry == (count == 1 ? .retryAfterTooLong : nil))
        }
    }

    @Test("A retry does not wait for the server of a recording", arguments: stacks)
    func replayed(stack: StrangersStack) async {
        let bench = Bench(stack) { _, index in
            .answer { request, context in
                context.report(.replayed(true))
                return PipelineResponse(
                    request: request,
                    statusCode: index == 0 ? 503 : 200,
                    headers: [.retryAfter: "20"]
                )
            }
        }
        let start = bench.clock.now
        #expect(await bench.get().response?.statusCode == 200)
        #expect(bench.clock.now == start)
    }

    @Test("T08 A retry after the deadline is not waited for", arguments: stacks)
    func deadline(stack: StrangersStack) async {
        let bench = Bench(stack) { _, _ in .status(503, headers: [.retryAfter: "20"]) }
        let start = bench.clock.now
        let result = await bench.get(Ask(options: Self.options { $0.totalTimeout = .seconds(10) }))
        #expect(result.response?.statusCode == 503)
        #expect(result.exchanges.last?.refusedRetry == .deadline)
        #expect(bench.clock.now == start)
    }

    @Test("T07 The body of a failed attempt is closed before the next one begins", arguments: stacks)
    func discardedBody(stack: StrangersStack) async throws {
        let closed = Atomic(false)
        let wasClosed = Atomic(false)
        let clock = ManualClock()
        let transport = ScriptedTransport { _, index in
            if index > 0 { wasClosed.store(closed.load(ordering: .relaxed), ordering: .relaxed) }
            let slow = SlowBytes(
                count: 9,
                every: .seconds(9),
                clock: clock,
                onClose: { closed.store(true, ordering: .relaxed) }
            )
            return index == 0 ? .status(503, body: .stream(slow)) : .status(200)
        }
        let bench = Bench(stack, clock: clock, transport: transport)
        let status = await clock.run { try? await bench.provider.stream(Ask()).response.statusCode }
        #expect(status == 200)
        let isClosed = wasClosed.load(ordering: .relaxed)
        #expect(isClosed)
    }

    // MARK: Copies

    @Test("Calls that share a slow exchange share its copy", arguments: stacks)
    func sharedCopy(stack: StrangersStack) async {
        let bench = Bench(stack) { _, index in index == 0 ? .hang : .delayed(.seconds(1), .status(200)) }
        let start = bench.clock.now
        #expect(await bench.results(50).allSatisfy { $0.response?.statusCode == 200 })
        #expect(bench.transport.sent.count == 2)
        #expect(start.duration(to: bench.clock.now) == .seconds(6))
    }

    @Test("A copy that ends after the winner does not part the calls that shared its response", arguments: stacks)
    func retriedWinner(stack: StrangersStack) async {
        // Whether the first response ends the race or not, the calls stay together.
        let bench = Bench(stack) { _, index in
            switch index {
            case 0: .delayed(.seconds(6), .status(429))
            case 1: .delayed(.milliseconds(2_500), .status(200))
            default: .delayed(.milliseconds(50), .status(200))
            }
        }
        #expect(await bench.results(50).allSatisfy { $0.response?.statusCode == 200 })
        #expect((2...3).contains(bench.transport.sent.count))
    }

    @Test("No copy is sent of a request that waits for a permit", arguments: stacks)
    func noCopyInQueue(stack: StrangersStack) async {
        let bench = Bench(stack, permits: 2) { request, _ in
            .delayed(.seconds(request.method == .post ? 7 : 1), .status(200))
        }
        let holders = ["/1", "/2"].map { Call(Ask(path: $0, method: .post)) }
        let results = await bench.results(holders + [Call(at: .milliseconds(1))])
        #expect(results.allSatisfy { $0.response?.statusCode == 200 })
        #expect(bench.transport.sent.count == 3)
    }

    @Test("A call that joined the exchange of another sends a copy when the delay has passed", arguments: stacks)
    func copyOfJoined(stack: StrangersStack) async {
        let bench = Bench(stack) { _, index in index == 0 ? .hang : .delayed(.seconds(1), .status(200)) }
        let start = bench.clock.now
        let results = await bench.results([Call(cancelledAfter: .seconds(2)), Call(at: .seconds(1))])
        #expect(results.map { $0.response?.statusCode } == [nil, 200])
        #expect(bench.transport.sent.count == 2)
        #expect(start.duration(to: bench.clock.now) == .seconds(7))
    }
}
