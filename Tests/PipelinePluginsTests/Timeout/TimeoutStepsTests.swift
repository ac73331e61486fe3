import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineCore
@testable import struct PipelineCore.PipelineClock

@Suite("TimeoutPlugin: steps of a wait", .realTime, .watched)
struct TimeoutStepsTests {
    @Test(
        "A wait is split into steps, each as long as all before it, up to its deadline",
        arguments: [
            (60, [1, 2, 4, 8, 16, 32, 60]), (4, [1, 2, 4]), (1, [1]), (3, [1, 2, 3]),
        ] as [(Int, [Int])]
    )
    func steps(_ length: Int, _ stops: [Int]) {
        let start = PipelineClock(ContinuousClock()).now
        let deadline = start.advanced(by: .seconds(length))
        var reached = start
        var seen: [Duration] = []
        while reached < deadline {
            reached = PipelineClock.stop(after: reached, from: start, to: deadline)
            seen.append(start.duration(to: reached))
        }
        #expect(seen == stops.map { .seconds($0) })
    }

    @Test("A wait of any length ends after fewer than 70 steps")
    func longest() {
        let start = PipelineClock(ManualClock()).now
        let deadline = start.advanced(by: .seconds(Int64.max))
        var reached = start
        var count = 0
        while reached < deadline, count < 100 {
            reached = PipelineClock.stop(after: reached, from: start, to: deadline)
            count += 1
        }
        #expect(reached == deadline)
        #expect(count < 70)
    }

    @Test("On the system clock, a timeout longer than one step ends only work that takes longer")
    func systemClock() async throws {
        let clock = PipelineClock(ContinuousClock())
        let start = clock.now
        let error = await #expect(throws: PipelineError.self) {
            try await clock.run(within: .milliseconds(1_100)) { try await clock.sleep(for: .seconds(60)) }
        }
        #expect(error?.code == .timeout(.attempt))
        #expect(start.duration(to: clock.now) >= .milliseconds(1_100))
        #expect(try await clock.run(within: .seconds(60)) { 1 } == 1)
    }
}
