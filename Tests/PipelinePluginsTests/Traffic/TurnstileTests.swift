import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineResilience

@Suite("Turnstile", .tags(.concurrent), .watched)
struct TurnstileTests {
    private let manual = ManualClock()
    private let clock: PipelineClock

    init() {
        clock = PipelineClock(manual)
    }

    private func moment(_ seconds: Int) -> PipelineClock.Instant {
        clock.now.advanced(by: .seconds(seconds))
    }

    /// The reason why a call was refused; `nil` if it was admitted.
    private func refusal(_ work: () async throws(TurnstileRefusal) -> Duration) async -> TurnstileRefusal? {
        do throws(TurnstileRefusal) {
            _ = try await work()
            return nil
        } catch {
            return error
        }
    }

    /// Starts a call, and waits until it is in the line.
    private func queue<Meter: TrafficMeter>(
        _ turnstile: Turnstile<Meter>,
        _ cost: Int = 1,
        _ priority: TrafficPriority = .normal,
        before deadline: PipelineClock.Instant? = nil
    ) async -> Task<Result<Duration, TurnstileRefusal>, Never> {
        let count = turnstile.waitingCount
        let task = Task { [clock] () -> Result<Duration, TurnstileRefusal> in
            do throws(TurnstileRefusal) {
                return .success(try await turnstile.enter(cost, priority, before: { deadline }, on: clock))
            } catch {
                return .failure(error)
            }
        }
        await eventually { turnstile.waitingCount > count }
        return task
    }

    @Test("A call with a free permit passes at once")
    func atOnce() async throws {
        let turnstile = Turnstile(CountingMeter(limit: 2), maximumWaitingCount: 0)
        #expect(turnstile.isIdle(at: clock.now))
        #expect(try await turnstile.enter(on: clock) == .zero)
        #expect(turnstile.enterAtOnce(on: clock))
        #expect(!turnstile.enterAtOnce(on: clock))
        #expect(!turnstile.isIdle(at: clock.now))
        turnstile.change(on: clock) { $0.release(2) }
        #expect(turnstile.isIdle(at: clock.now))
    }

    @Test("A waiting call leaves at most half of its time for its work, unless that usually takes longer")
    func leadTime() async {
        for (mean, seconds) in [(1, 5), (7, 3)] {
            let clock = PipelineClock(ManualClock())
            let turnstile = Turnstile(SlowMeter(mean: .seconds(mean), bound: .seconds(100)), maximumWaitingCount: 9)
            let end = clock.now.advanced(by: .seconds(10))
            for (wait, reason) in [(seconds, .tooLate), (seconds - 1, nil)] as [(Int, TurnstileRefusal.Reason?)] {
                turnstile.change(on: clock) { $0.wait = .seconds(wait) }
                let task = Task {
                    await refusal { () async throws(TurnstileRefusal) in
                        try await turnstile.enter(before: { end }, on: clock)
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
        let turnstile = Turnstile(CountingMeter(limit: 1), maximumWaitingCount: 9)
        #expect(turnstile.enterAtOnce(on: clock))
        let low = await queue(turnstile, 1, .low)
        let high = await queue(turnstile, 1, .high)
        #expect(!turnstile.enterAtOnce(on: clock))
        manual.advance(by: .seconds(2))
        turnstile.change(on: clock) { $0.release() }
        #expect(await high.value == .success(.seconds(2)))
        #expect(turnstile.waitingCount == 1)
        manual.advance(by: .seconds(1))
        turnstile.change(on: clock) { $0.release() }
        #expect(await low.value == .success(.seconds(3)))
        #expect(turnstile.change(on: clock, \.mostInUse) == 1)
        #expect(manual.sleeperCount == 0)
    }

    @Test("A call does not overtake one that waits for more permits")
    func costly() async throws {
        let turnstile = Turnstile(CountingMeter(limit: 2), maximumWaitingCount: 9)
        #expect(turnstile.enterAtOnce(on: clock))
        let costly = await queue(turnstile, 2)
        #expect(!turnstile.enterAtOnce(on: clock))
        turnstile.change(on: clock) { $0.release() }
        #expect(await costly.value == .success(.zero))
    }

    @Test("One call sleeps until the next permit and serves the line for all")
    func driver() async throws {
        let turnstile = Turnstile(SpacedMeter(interval: .seconds(1)), maximumWaitingCount: 9)
        #expect(turnstile.enterAtOnce(on: clock))
        var calls: [Task<Result<Duration, TurnstileRefusal>, Never>] = []
        for _ in 1...5 { calls.append(await queue(turnstile)) }
        for (index, call) in calls.enumerated() {
            try await manual.waitForSleepers()
            #expect(manual.sleeperCount == 1)
            manual.advance(by: .seconds(1))
            #expect(await call.value == .success(.seconds(index + 1)))
        }
        #expect(turnstile.waitingCount == 0)
    }

    @Test("When the call that drives the line is cancelled, another takes over", arguments: 0...2)
    func handover(index: Int) async throws {
        let turnstile = Turnstile(SpacedMeter(interval: .seconds(1)), maximumWaitingCount: 9)
        #expect(turnstile.enterAtOnce(on: clock))
        var calls: [Task<Result<Duration, TurnstileRefusal>, Never>] = []
        for _ in 1...3 { calls.append(await queue(turnstile)) }
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
        let turnstile = Turnstile(CountingMeter(limit: 1), maximumWaitingCount: 9)
        #expect(turnstile.enterAtOnce(on: clock))
        let late = await queue(turnstile, before: moment(5))
        try await manual.waitForSleepers()
        let early = await queue(turnstile, before: moment(2))
        manual.advance(by: .seconds(2))
        #expect(await early.value == .failure(.init(reason: .tooLate)))
        manual.advance(by: .seconds(3))
        #expect(await late.value == .failure(.init(reason: .tooLate)))
        // A permit that becomes free at the deadline is not given to the call.
        let last = await queue(turnstile, before: moment(1))
        try await manual.waitForSleepers()
        manual.advance(by: .seconds(1))
        turnstile.change(on: clock) { $0.release() }
        #expect(await last.value == .failure(.init(reason: .tooLate)))
        #expect(turnstile.isIdle(at: clock.now))
    }

    @Test("A call is refused on arrival if its deadline has passed or would pass before the next permit")
    func tooLate() async {
        let turnstile = Turnstile(SpacedMeter(interval: .seconds(2)), maximumWaitingCount: 9)
        #expect(!turnstile.enterAtOnce(before: clock.now, on: clock))
        let passed = await refusal { () throws(TurnstileRefusal) in
            try await turnstile.enter(before: { clock.now }, on: clock)
        }
        #expect(passed == .init(reason: .tooLate))
        #expect(turnstile.enterAtOnce(on: clock))
        let next = await refusal { () throws(TurnstileRefusal) in
            try await turnstile.enter(before: { moment(2) }, on: clock)
        }
        #expect(next == .init(reason: .tooLate, wait: .seconds(2)))
        #expect(turnstile.waitingCount == 0)
    }

    @Test("A call that must not wait, or whose cost is never available, is refused")
    func refusals() async {
        let turnstile = Turnstile(CountingMeter(limit: 2), maximumWaitingCount: 9)
        let costly = await refusal { () throws(TurnstileRefusal) in try await turnstile.enter(3, on: clock) }
        #expect(costly == .init(reason: .tooCostly))
        let free = await refusal { () throws(TurnstileRefusal) in
            try await turnstile.enter(2, on: clock, mayWait: false)
        }
        #expect(free == nil)
        let waiting = await refusal { () throws(TurnstileRefusal) in
            try await turnstile.enter(on: clock, mayWait: false)
        }
        #expect(waiting == .init(reason: .mustNotWait))
    }

    @Test("A full line refuses the newcomer, or the newest call of a lower priority")
    func full() async {
        let turnstile = Turnstile(SpacedMeter(interval: .seconds(3)), maximumWaitingCount: 1)
        #expect(turnstile.enterAtOnce(on: clock))
        let low = await queue(turnstile, 1, .low)
        let other = await refusal { () throws(TurnstileRefusal) in try await turnstile.enter(1, .low, on: clock) }
        #expect(other == .init(reason: .full))
        let high = Task { [clock] in try await turnstile.enter(1, .high, on: clock) }
        #expect(await low.value == .failure(.init(reason: .full)))
        await eventually { manual.sleeperCount == 1 && turnstile.waitingCount == 1 }
        manual.advance(by: .seconds(3))
        #expect((try? await high.value) == .seconds(3))
    }

    @Test("A call that is already cancelled leaves the line at once")
    func cancelled() async {
        let turnstile = Turnstile(CountingMeter(limit: 1), maximumWaitingCount: 9)
        #expect(turnstile.enterAtOnce(on: clock))
        let task = Task { [clock] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await turnstile.enter(on: clock)
        }
        await #expect(throws: TurnstileRefusal(reason: .cancelled)) { try await task.value }
        #expect(turnstile.waitingCount == 0)
    }
}
