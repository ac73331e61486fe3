import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("PipelineClock: instants of several providers", .tags(.concurrent), .realTime, .watched)
struct PipelineClockTests {
    /// A clock that the library does not know.
    private struct OwnClock: Clock {
        let manual: ManualClock

        var now: ManualClock.Instant { manual.now }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
            try await manual.sleep(until: deadline, tolerance: tolerance)
        }
    }

    /// Records the start of each call.
    private final class Starts: Stage.Prepare {
        let all = Mutex<[PipelineClock.Instant]>([])

        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
            all.withLock { $0.append(context.start) }
        }
    }

    /// Returns the start of one call by each of three providers, created 10 seconds apart.
    private func starts(_ manual: ManualClock, on clock: some Clock<Duration>) async throws -> [PipelineClock.Instant] {
        let plugin = Starts()
        for _ in 0..<3 {
            manual.advance(by: .seconds(10))
            let transport = ScriptedTransport(always: .status(200))
            let provider = Provider<TestTarget>(
                transport: transport,
                plugins: [plugin],
                configuration: .init(clock: clock)
            )
            _ = try await provider.request(TestTarget())
        }
        return plugin.all.withLock { $0 }
    }

    private func steps(_ instants: [PipelineClock.Instant]) -> [Duration] {
        zip(instants, instants.dropFirst()).map { $0.duration(to: $1) }
    }

    @Test("A plugin shared by providers on one manual clock can compare their calls' instants")
    func manual() async throws {
        let manual = ManualClock()
        let starts = try await starts(manual, on: manual)
        #expect(steps(starts) == [.seconds(10), .seconds(10)])
        #expect(starts == starts.sorted())
        #expect(PipelineClock(manual).now == starts.last)
    }

    @Test("A wrapped clock is not wrapped a second time, so its instants are comparable")
    func wrapped() async throws {
        let manual = ManualClock()
        let starts = try await starts(manual, on: PipelineClock(OwnClock(manual: manual)))
        #expect(steps(starts) == [.seconds(10), .seconds(10)])
    }

    @Test("Any other clock counts from the moment it was wrapped")
    func unknown() async throws {
        let manual = ManualClock()
        #expect(try await steps(starts(manual, on: OwnClock(manual: manual))) == [.zero, .zero])
    }

    @Test("Instants of providers on system clocks are comparable, no matter when each provider was created")
    func system() {
        func compare(_ makeClock: () -> PipelineClock) {
            let first = makeClock()
            let start = first.now
            while start.duration(to: first.now) < .milliseconds(1) {}
            let middle = makeClock().now
            #expect(start.duration(to: middle) >= .milliseconds(1))
            #expect(middle <= first.now)
        }
        compare { PipelineClock(ContinuousClock()) }
        compare { PipelineClock(SuspendingClock()) }
    }

    @Test("Sleeping until an instant of another provider's clock ends at that instant")
    func sleep() async throws {
        let manual = ManualClock()
        manual.advance(by: .seconds(5))
        let deadline = PipelineClock(manual).now.advanced(by: .seconds(2))
        manual.advance(by: .seconds(1))
        async let wake: Void = PipelineClock(manual).sleep(until: deadline)
        #expect(try await manual.advanceToNextSleeper() == .seconds(1))
        try await wake
    }
}
