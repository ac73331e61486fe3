import PipelineTesting
import TestSupport
import Testing

@Suite("ManualClock, moved without waiting", .tags(.concurrent), .watched)
struct ManualClockSleeperTests {
    @Test("The clock does not move without a sleeper")
    func nobody() {
        let clock = ManualClock()
        #expect(!clock.advanceIfAnyoneSleeps())
        #expect(clock.now.offset == .zero)
    }

    @Test("A wait for the next sleeper never moves the clock by nothing, even if sleepers are cancelled meanwhile")
    func cancelled() async throws {
        let clock = ManualClock()
        for _ in 1...500 {
            let sleeping = Task { try await clock.sleep(for: .seconds(1)) }
            let cancelling = Task.detached { sleeping.cancel() }
            let other = Task {
                await cancelling.value
                try await clock.sleep(for: .seconds(2))
            }
            #expect(try await clock.advanceToNextSleeper() > .zero)
            other.cancel()
            _ = await other.result
        }
    }

    @Test("The clock moves to the earliest deadline and wakes only that deadline's sleepers")
    func earliest() async throws {
        let clock = ManualClock()
        let late = Task { try await clock.sleep(for: .seconds(5)) }
        let early = Task { try await clock.sleep(for: .seconds(2)) }
        try await clock.waitForSleepers(2)
        #expect(clock.advanceIfAnyoneSleeps())
        try await early.value
        #expect(clock.now.offset == .seconds(2))
        #expect(clock.sleeperCount == 1)
        #expect(clock.advanceIfAnyoneSleeps())
        try await late.value
        #expect(clock.now.offset == .seconds(5))
    }
}
