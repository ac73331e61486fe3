import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineResilience

@Suite("PermitQueue", .tags(.concurrent), .watched)
struct PermitQueueTests {
    private let manual = ManualClock()
    private let clock: PipelineClock

    init() {
        clock = PipelineClock(manual)
    }

    private func moment(_ seconds: Int) -> PipelineClock.Instant {
        clock.now.advanced(by: .seconds(seconds))
    }

    /// The reason why a call was refused; `nil` if it was admitted.
    private func refusal(_ work: () async throws(PermitRefusal) -> Duration) async -> PermitRefusal? {
        do throws(PermitRefusal) {
            _ = try await work()
            return nil
        } catch {
            return error
        }
    }

    /// Starts a call, and waits until it is in the queue.
    private func queue<Meter: TrafficMeter>(
        _ permits: PermitQueue<Meter>,
        _ cost: Int = 1,
        _ priority: TrafficPriority = .normal,
        before deadline: PipelineClock.Instant? = nil
    ) async -> Task<Result<Duration, PermitRefusal>, Never> {
        let count = permits.waitingCount
        let task = Task { [clock] () -> Result<Duration, PermitRefusal> in
            do throws(PermitRefusal) {
                return .success(try await permits.enter(cost, priority, before: { deadline }, on: clock))
            } catch {
                return .failure(error)
            }
        }
        await eventually { permits.waitingCount > count }
        return task
    }

    @Test("A call with a free permit passes at once")
    func atOnce() async throws {
        let permits = PermitQueue(CountingMeter(limit: 2), maximumWaitingCount: 0)
        #expect(permits.isIdle(at: clock.now))
        #expect(try await permits.enter(on: clock) == .zero)
        #expect(permits.enterAtOnce(on: clock))
        #expect(!permits.enterAtOnce(on: clock))
        #expect(!permits.isIdle(at: clock.now))
        permits.change(on: clock) { $0.release(2) }
        #expect(permits.isIdle(at: clock.now))
    }

    @Test("A waiting call leaves at most half of its time for its work, unless that usually takes longer")
    func leadTime() async {
        for (mean, seconds) in [(1, 5), (7, 3)] {
            let clock = PipelineClock(ManualClock())
            let permits = PermitQueue(SlowMeter(mean: .seconds(mean), bound: .seconds(100)), maximumWaitingCount: 9)
            let end = clock.now.advanced(by: .seconds(10))
            for (wait, reason) in [(seconds, .tooLate), (seconds - 1, nil)] as [(Int, PermitRefusal.Reason?)] {
                permits.change(on: clock) { $0.wait = .seconds(wait) }
                let task = Task {
                    await refusal { () async throws(PermitRefusal) in
                        try await permits.enter(before: { end }, on: clock)
                    }
                }
                // Ends the call if it waits.
                task.cancel()
                #expect(await task.value?.reason == reason ?? .cancelled)
            }
        }
    }

    @Test("A released permit goes to the first waiting call, which learns how long it waited")
    func release() async throws {
        let permits = PermitQueue(CountingMeter(limit: 1), maximumWaitingCount: 9)
        #expect(permits.enterAtOnce(on: clock))
        let low = await queue(permits, 1, .low)
        let high = await queue(permits, 1, .high)
        #expect(!permits.enterAtOnce(on: clock))
        manual.advance(by: .seconds(2))
        permits.change(on: clock) { $0.release() }
        #expect(await high.value == .success(.seconds(2)))
        #expect(permits.waitingCount == 1)
        manual.advance(by: .seconds(1))
        permits.change(on: clock) { $0.release() }
        #expect(await low.value == .success(.seconds(3)))
        #expect(permits.change(on: clock, \.mostInUse) == 1)
        #expect(manual.sleeperCount == 0)
    }

    @Test("A call does not overtake one that waits for more permits")
    func costly() async throws {
        let permits = PermitQueue(CountingMeter(limit: 2), maximumWaitingCount: 9)
        #expect(permits.enterAtOnce(on: clock))
        let costly = await queue(permits, 2)
        #expect(!permits.enterAtOnce(on: clock))
        permits.change(on: clock) { $0.release() }
        #expect(await costly.value == .success(.zero))
    }

    @Test("One call sleeps until the next permit and serves the queue for all")
    func driver() async throws {
        let permits = PermitQueue(SpacedMeter(interval: .seconds(1)), maximumWaitingCount: 9)
        #expect(permits.enterAtOnce(on: clock))
        var calls: [Task<Result<Duration, PermitRefusal>, Never>] = []
        for _ in 1...5 { calls.append(await queue(permits)) }
        for (index, call) in calls.enumerated() {
            try await manual.waitForSleepers()
            #expect(manual.sleeperCount == 1)
            manual.advance(by: .seconds(1))
            #expect(await call.value == .success(.seconds(index + 1)))
        }
        #expect(permits.waitingCount == 0)
    }

    @Test("When the call that drives the queue is cancelled, another takes over", arguments: 0...2)
    func handover(index: Int) async throws {
        let permits = PermitQueue(SpacedMeter(interval: .seconds(1)), maximumWaitingCount: 9)
        #expect(permits.enterAtOnce(on: clock))
        var calls: [Task<Result<Duration, PermitRefusal>, Never>] = []
        for _ in 1...3 { calls.append(await queue(permits)) }
        try await manual.waitForSleepers()
        let cancelled = calls.remove(at: index)
        cancelled.cancel()
        #expect(await cancelled.value == .failure(.init(reason: .cancelled)))
        for (index, call) in calls.enumerated() {
            try await manual.advanceToNextSleeper()
            #expect(await call.value == .success(.seconds(index + 1)))
        }
    }

    @Test("A waiting call is refused at its deadline, also if a later arrival has the earlier deadline")
    func deadlines() async throws {
        let permits = PermitQueue(CountingMeter(limit: 1), maximumWaitingCount: 9)
        #expect(permits.enterAtOnce(on: clock))
        let late = await queue(permits, before: moment(5))
        try await manual.waitForSleepers()
        let early = await queue(permits, before: moment(2))
        manual.advance(by: .seconds(2))
        #expect(await early.value == .failure(.init(reason: .tooLate)))
        manual.advance(by: .seconds(3))
        #expect(await late.value == .failure(.init(reason: .tooLate)))
        // A permit that becomes free at the deadline is not given to the call.
        let last = await queue(permits, before: moment(1))
        try await manual.waitForSleepers()
        manual.advance(by: .seconds(1))
        permits.change(on: clock) { $0.release() }
        #expect(await last.value == .failure(.init(reason: .tooLate)))
        #expect(permits.isIdle(at: clock.now))
    }

    @Test("A call is refused on arrival if its deadline has passed or would pass before the next permit")
    func tooLate() async {
        let permits = PermitQueue(SpacedMeter(interval: .seconds(2)), maximumWaitingCount: 9)
        #expect(!permits.enterAtOnce(before: clock.now, on: clock))
        let passed = await refusal { () throws(PermitRefusal) in
            try await permits.enter(before: { clock.now }, on: clock)
        }
        #expect(passed == .init(reason: .tooLate))
        #expect(permits.enterAtOnce(on: clock))
        let next = await refusal { () throws(PermitRefusal) in
            try await permits.enter(before: { moment(2) }, on: clock)
        }
        #expect(next == .init(reason: .tooLate, wait: .seconds(2)))
        #expect(permits.waitingCount == 0)
    }

    @Test("A call that must not wait, or whose cost is never available, is refused")
    func refusals() async {
        let permits = PermitQueue(CountingMeter(limit: 2), maximumWaitingCount: 9)
        let costly = await refusal { () throws(PermitRefusal) in try await permits.enter(3, on: clock) }
        #expect(costly == .init(reason: .tooCostly))
        let free = await refusal { () throws(PermitRefusal) in
            try await permits.enter(2, within: .zero, on: clock)
        }
        #expect(free == nil)
        let waiting = await refusal { () throws(PermitRefusal) in
            try await permits.enter(within: .zero, on: clock)
        }
        #expect(waiting == .init(reason: .mustNotWait))
    }

    @Test("A full queue refuses the newcomer, or the newest call of a lower priority")
    func full() async {
        let permits = PermitQueue(SpacedMeter(interval: .seconds(3)), maximumWaitingCount: 1)
        #expect(permits.enterAtOnce(on: clock))
        let low = await queue(permits, 1, .low)
        let other = await refusal { () throws(PermitRefusal) in try await permits.enter(1, .low, on: clock) }
        #expect(other == .init(reason: .full))
        let high = Task { [clock] in try await permits.enter(1, .high, on: clock) }
        #expect(await low.value == .failure(.init(reason: .full)))
        await eventually { manual.sleeperCount == 1 && permits.waitingCount == 1 }
        manual.advance(by: .seconds(3))
        #expect((try? await high.value) == .seconds(3))
    }

    @Test("A call that is already cancelled leaves the queue at once")
    func cancelled() async {
        let permits = PermitQueue(CountingMeter(limit: 1), maximumWaitingCount: 9)
        #expect(permits.enterAtOnce(on: clock))
        let task = Task { [clock] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await permits.enter(on: clock)
        }
        await #expect(throws: PermitRefusal(reason: .cancelled)) { try await task.value }
        #expect(permits.waitingCount == 0)
    }
}
