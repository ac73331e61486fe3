import Foundation
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("The clock of a recorded session", .watched)
struct ReplayClockTests {
    private let start = Date(timeIntervalSince1970: 1_600_000_000)

    private func moment(_ seconds: Double) -> ReplayClock.Instant { ReplayClock.Instant(start + seconds) }

    @Test("Exchanges that overlap leave the date of the one that ends last")
    func overlapping() {
        let clock = ReplayClock(startingAt: moment(0))
        let outer = clock.begin(at: moment(10))
        let inner = clock.begin(at: moment(20))
        #expect(clock.date == start + 20)
        clock.advance(to: inner.advanced(by: .seconds(5)))
        #expect(clock.date == start + 25)
        clock.advance(to: outer.advanced(by: .seconds(40)))
        #expect(clock.date == start + 50)
        // The pause of 10 s before the first exchange is not part of the time.
        #expect(moment(0).duration(to: clock.now) == .seconds(40))
    }

    @Test("A wait between two exchanges advances the time and the date, and neither goes back")
    func wait() async throws {
        let clock = ReplayClock(startingAt: moment(0))
        clock.advance(to: clock.begin(at: moment(100)).advanced(by: .seconds(1)))
        clock.advance(by: .seconds(9))
        #expect(clock.date == start + 110)
        #expect(clock.now == moment(10))
        try await clock.sleep(until: moment(5))
        #expect(clock.now == moment(10))
        try await clock.sleep(until: clock.now.advanced(by: .milliseconds(1)))
        #expect(clock.now == moment(10.001))
        let date = clock.date
        #expect(abs(date.timeIntervalSince(start + 110.001)) < 1e-6)
        _ = clock.begin(at: moment(50))
        #expect(clock.date == date)
    }
}
