import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineCore

@Suite("Deadline and date of a call", .tags(.concurrent), .realTime, .watched)
struct DeadlineTests {
    @Test("The earliest of several deadlines applies to the whole call and to no other call")
    func earliest() async throws {
        let clock = ManualClock()
        let seen = Journal()
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [
                .prepare { _, context in
                    seen.add("\(context.deadline == nil)")
                    for seconds in [5, 3, 9] { context.setDeadline(context.start.advanced(by: .seconds(seconds))) }
                },
                .intercept { request, context, next in
                    seen.add("\(context.deadline.map { context.start.duration(to: $0) } ?? .zero)")
                    return try await next(request)
                },
            ],
            configuration: .init(clock: clock)
        )
        for _ in 1...2 { _ = try await provider.request(TestTarget()) }
        #expect(seen.entries == ["true", "3.0 seconds", "true", "3.0 seconds"])
    }

    @Test("The date comes from a clock that has one, and advances with it")
    func date() {
        let start = Date(timeIntervalSince1970: 1_000)
        let manual = ManualClock(date: start)
        let clock = PipelineClock(manual)
        #expect(clock.date == start)
        manual.advance(by: .milliseconds(1_500))
        #expect(clock.date == start.addingTimeInterval(1.5))
        #expect(abs(PipelineClock(ContinuousClock()).date.timeIntervalSinceNow) < 60)
    }

    @Test("Work that exceeds its time limit is cancelled, and the error names the phase")
    func phases() async throws {
        let manual = ManualClock()
        let clock = PipelineClock(manual)
        async let error = pipelineError {
            try await clock.run(within: .seconds(2), phase: .total) { try await clock.sleep(for: .seconds(60)) }
        }
        try await manual.waitForSleepers(2)
        manual.advance(by: .seconds(2))
        #expect(await error?.code == .timeout(.total))
        #expect(await error?.reason == "the call took longer than 2000 ms")
    }
}
