import Synchronization
import TestSupport
import Testing

@testable import PipelineTesting

@Suite("ManualClock", .tags(.concurrent), .watched)
struct ManualClockTests {
    private let clock = ManualClock()

    @Test("it does not move until it is advanced")
    func standsStill() {
        #expect(clock.now.offset == .zero)
        clock.advance(by: .seconds(3))
        clock.advance(by: .zero)
        #expect(clock.now.offset == .seconds(3))
        #expect(clock.minimumResolution == .zero)
    }

    @Test("a sleeper wakes at its deadline, and not before")
    func wakes() async throws {
        let sleeper = Task { [clock] in try await clock.sleep(for: .seconds(2)) }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        #expect(clock.sleeperCount == 0)
        try await sleeper.value
    }

    @Test("sleeping until a deadline that has passed returns at once", arguments: [Duration.zero, .seconds(-1)])
    func passedDeadline(distance: Duration) async throws {
        clock.advance(by: .seconds(5))
        try await clock.sleep(until: clock.now.advanced(by: distance))
        #expect(clock.sleeperCount == 0)
    }

    @Test("a sleeper that is cancelled ends at once")
    func cancelled() async throws {
        let sleeper = Task { [clock] in try await clock.sleep(for: .seconds(2)) }
        try await clock.waitForSleepers()
        sleeper.cancel()
        #expect(clock.sleeperCount == 0)
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test("a task that is already cancelled does not sleep")
    func cancelledBefore() async {
        let sleeper = Task { [clock] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(2))
        }
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test("waiting for sleepers waits for the requested number")
    func waitsForSleepers() async throws {
        let isSatisfied = Atomic(false)
        let watcher = Task { [clock] in
            try await clock.waitForSleepers(2)
            isSatisfied.store(true, ordering: .sequentiallyConsistent)
        }
        let first = Task { [clock] in try await clock.sleep(for: .seconds(1)) }
        try await clock.waitForSleepers(1)
        let isTooEarly = isSatisfied.load(ordering: .sequentiallyConsistent)
        #expect(!isTooEarly)
        let second = Task { [clock] in try await clock.sleep(for: .seconds(1)) }
        try await watcher.value
        clock.advance(by: .seconds(1))
        try await first.value
        try await second.value
    }

    @Test("a task that waits for sleepers stops waiting when it is cancelled")
    func cancelledWatcher() async {
        let watcher = Task { [clock] in try await clock.waitForSleepers() }
        watcher.cancel()
        await #expect(throws: CancellationError.self) { try await watcher.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test("waiting in vain for sleepers fails with a sentence, and the clock still works")
    func vainWait() async throws {
        let sleeper = Task { [clock] in try await clock.sleep(for: .seconds(1)) }
        try await clock.waitForSleepers()
        let error = await #expect(throws: WaitTimeout.self) {
            try await WaitTimeout.$pauseCount.withValue(1) { try await clock.waitForSleepers(2) }
        }
        #expect(error?.description == "a test waited in vain for 2 sleepers; there are 1")
        try await clock.advanceToNextSleeper()
        try await sleeper.value
    }

    @Test("advancing to the next sleeper moves to the earliest deadline and returns the distance")
    func advancesToNextSleeper() async throws {
        let late = Task { [clock] in try await clock.sleep(for: .seconds(5)) }
        let early = Task { [clock] in try await clock.sleep(for: .seconds(2)) }
        try await clock.waitForSleepers(2)
        #expect(try await clock.advanceToNextSleeper() == .seconds(2))
        try await early.value
        #expect(clock.sleeperCount == 1)
        #expect(try await clock.advanceToNextSleeper() == .seconds(3))
        try await late.value
    }

    @Test("instants are ordered and have durations between them")
    func instants() {
        let start = clock.now
        let later = start.advanced(by: .seconds(2))
        #expect(start < later)
        #expect(start.duration(to: later) == .seconds(2))
        #expect(later.duration(to: start) == .seconds(-2))
    }
}
