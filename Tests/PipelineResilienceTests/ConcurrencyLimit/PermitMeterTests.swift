import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineResilience

@Suite("PermitMeter", .watched)
struct PermitMeterTests {
    private let now = PipelineClock(ManualClock()).now

    /// Takes and returns one permit many times, while another stays in use.
    private func meter(
        _ limit: ConcurrencyLimit,
        _ outcome: PermitMeter.Outcome?,
        after duration: Duration = .seconds(1)
    ) -> PermitMeter {
        var meter = PermitMeter(limit)
        meter.take(1, at: now)
        for _ in 1...1_000 {
            meter.take(1, at: now)
            meter.release(from: now, to: now.advanced(by: duration), outcome)
        }
        return meter
    }

    @Test("A request that says nothing about the server changes neither the limit nor the expected latency")
    func ignored() {
        let meter = meter(.adaptive(initial: 2, range: 1...50), nil)
        #expect(meter.limit == 2)
        #expect(meter.leadTime(ofWaiting: true) == .zero)
        #expect(meter.inUse == 1)
    }

    @Test("A range above a million is a mistake of the program")
    func range() async {
        await #expect(processExitsWith: .failure) { _ = ConcurrencyLimit.adaptive(range: 1...1_000_001) }
        #expect(ConcurrencyLimit.adaptive(range: 1...1_000_000).range == 1...1_000_000)
    }

    @Test("The expected latency is the mean, and a waiting call leaves four mean deviations more")
    func latency() {
        var meter = PermitMeter(.fixed(9))
        for _ in 1...3 { meter.take(1, at: now) }
        #expect(meter.leadTime(ofWaiting: false) == .zero)
        meter.release(from: now, to: now.advanced(by: .seconds(1)), .answered)
        #expect(meter.leadTime(ofWaiting: false) == .seconds(1))
        #expect(meter.leadTime(ofWaiting: true) == .seconds(3))
        // A quick refusal does not count, a slow one does.
        meter.release(from: now, to: now.advanced(by: .zero), .refused)
        #expect(meter.leadTime(ofWaiting: false) == .seconds(1))
        meter.take(1, at: now)
        meter.release(from: now, to: now.advanced(by: .seconds(33)), .late)
        #expect(meter.leadTime(ofWaiting: false) == .seconds(2))
    }
}
