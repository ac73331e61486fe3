import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineResilience

@Suite("RateMeter", .watched)
struct RateMeterTests {
    private let now = PipelineClock(ManualClock()).now

    private func isIdle(_ meter: RateMeter, after duration: Duration) -> Bool {
        var meter = meter
        return meter.isIdle(at: now.advanced(by: duration))
    }

    @Test("A partition is idle once no request counts")
    func window() {
        var meter = RateMeter(RateLimit(10, per: .seconds(1)), spread: .seconds(1), isShared: false, at: now)
        meter.take(1, at: now)
        _ = meter.depart(1, at: now)
        #expect(!isIdle(meter, after: .seconds(1)))
        #expect(isIdle(meter, after: .seconds(2)))
    }

    @Test("A partition is idle once its gate is open, and calls that it turned away have had the time to come back")
    func gate() {
        var meter = RateMeter(nil, spread: .seconds(1), isShared: false, at: now)
        _ = meter.close(until: now.advanced(by: .seconds(10)), refusal: 429, at: now)
        #expect(!isIdle(meter, after: .seconds(9)))
        #expect(!isIdle(meter, after: .milliseconds(10_900)))
        #expect(isIdle(meter, after: .seconds(11)))
        // Two calls are spread over a second.
        _ = meter.availability(of: 1, at: now.advanced(by: .seconds(11)), waiting: 1)
        #expect(!isIdle(meter, after: .milliseconds(11_900)))
        #expect(isIdle(meter, after: .seconds(12)))
    }

    /// A clock during whose first reading something else happens.
    private final class InterruptedClock: Clock {
        let manual = ManualClock()
        let interruption = Mutex<(@Sendable () -> Void)?>(nil)

        var now: ManualClock.Instant {
            interruption.withLock { $0.take() }?()
            return manual.now
        }

        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
            try await manual.sleep(until: deadline, tolerance: tolerance)
        }
    }

    @Test("Two sends that begin at the same time use the permits of their request once")
    func sends() async throws {
        let interrupted = InterruptedClock()
        let clock = PipelineClock(interrupted)
        let meter = RateMeter(RateLimit(2, per: .seconds(1)), spread: .zero, isShared: false, at: clock.now)
        let permits = PermitQueue(meter, maximumWaitingCount: 0)
        let plugin = PluginStack.willSend { _, context in
            #expect(permits.enterAtOnce(1, on: clock))
            let departure = RateDeparture(at: permits, cost: 1, context)
            interrupted.interruption.withLock { $0 = { departure.depart(on: clock) } }
            departure.depart(on: clock)
        }
        _ = try await Provider<URLTarget>(transport: ScriptedTransport(always: .status(200)), plugins: [plugin])
            .request(URLTarget("https://a.test/"))
        #expect(permits.isIdle(at: clock.now.advanced(by: .seconds(10))))
    }
}
