import Dispatch
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("ManualClock.run", .tags(.concurrent), .realTime, .watched)
struct ManualClockRunTests {
    private final class Log<Value: Sendable>: Sendable {
        private let values = Mutex<[Value]>([])

        var all: [Value] { values.withLock { $0 } }

        func add(_ value: Value) { values.withLock { $0.append(value) } }
    }

    @Test("The clock advances to each sleeper in turn whenever all tasks wait")
    func advancing() async throws {
        let clock = ManualClock()
        let log = Log<String>()
        try await clock.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for seconds in [3, 1, 2] {
                    group.addTask {
                        try await clock.sleep(for: .seconds(seconds))
                        log.add("\(seconds) at \(clock.now.offset)")
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(log.all == ["1 at 1.0 seconds", "2 at 2.0 seconds", "3 at 3.0 seconds"])
    }

    @Test("Two runs with the same random numbers take the same steps, with thousands of calls at once")
    func determinism() async throws {
        func steps() async throws -> [Int] {
            let clock = ManualClock()
            let order = Log<Int>()
            let transport = ScriptedTransport(
                always: .answer { request, context in
                    var random = context.random
                    try await context.clock.sleep(for: .milliseconds(Int.random(in: 0...1_000, using: &random)))
                    order.add(context.callID)
                    return PipelineResponse(request: request, statusCode: 200)
                }
            )
            let provider = Provider<URLTarget>(
                transport: transport,
                configuration: ProviderConfiguration(clock: clock, random: .seeded(7))
            )
            try await clock.run {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<2_000 {
                        group.addTask { _ = try await provider.request(URLTarget("https://a.test/")) }
                    }
                    try await group.waitForAll()
                }
            }
            return order.all
        }
        let first = try await steps()
        #expect(first.count == 2_000)
        #expect(first != first.sorted())
        let second = try await steps()
        #expect(first == second)
    }

    @Test("The clock does not advance while a task can run, or after the work has ended")
    func standing() async throws {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(5)) }
        try await clock.waitForSleepers()
        await clock.run {
            for _ in 0..<100 { await Task.yield() }
            #expect(clock.now.offset == .zero)
        }
        #expect(clock.now.offset == .zero)
        sleeper.cancel()
    }

    @Test("A task outside the run that begins to sleep when all others wait is woken, too")
    func taskOutside() async throws {
        let clock = ManualClock()
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        try await clock.run {
            let outside = Task.detached {
                for await _ in arrivals { break }
                try await clock.sleep(for: .seconds(3))
            }
            // The run has nothing to do when the task outside begins to sleep.
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(5)) { arrival.yield() }
            try await outside.value
        }
        #expect(clock.now.offset == .seconds(3))
    }

    @Test("Cancelled sleepers do not hold up the clock")
    func cancellation() async throws {
        let clock = ManualClock()
        await clock.run {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<1_000 { group.addTask { try? await clock.sleep(for: .seconds(60)) } }
                group.addTask { try? await clock.sleep(for: .seconds(1)) }
                await group.next()
                group.cancelAll()
            }
        }
        #expect(clock.now.offset == .seconds(1))
        #expect(clock.sleeperCount == 0)
    }
}
