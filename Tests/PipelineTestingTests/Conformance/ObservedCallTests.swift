import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineTesting

@Suite("PluginConformance: patience", .tags(.concurrent), .watched)
struct ObservedCallTests {
    @Test("Patience ends even if a task sleeps again and again")
    func sleepsForEver() async {
        let clock = ManualClock()
        let sleeper = Task {
            while true { try await clock.sleep(for: .seconds(1)) }
        }
        await Patience.wait(.milliseconds(50), moving: clock, maximumMoveCount: 3) { clock.now.offset > .seconds(20) }
        #expect(clock.now.offset <= .seconds(3))
        sleeper.cancel()
    }

    @Test("A wait for something other than the clock is reported, in time that the machine had for it")
    func otherWaits() async {
        let clock = ManualClock()
        for (rounds, range) in [(400, 190...1_100), (220, 10...110)] {
            var count = 0
            let wait = await Patience.wait(.seconds(120), moving: clock) {
                count += 1
                return count > rounds
            }
            #expect((Duration.milliseconds(range.lowerBound)...(.milliseconds(range.upperBound))).contains(wait))
        }
        let sleeper = Task { try await clock.sleep(for: .seconds(10)) }
        #expect(await Patience.wait(.seconds(120), moving: clock) { clock.now.offset == .seconds(10) } == .zero)
        sleeper.cancel()
    }
}
