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
}
