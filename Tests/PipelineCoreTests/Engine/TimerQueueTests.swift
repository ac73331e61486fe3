import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineCore

@Suite("Timers of all calls on one clock", .tags(.concurrent), .watched)
struct TimerQueueTests {
    private let manual = ManualClock()
    private let clock: PipelineClock
    private let queue: TimerQueue
    private let fired = Fired()

    private final class Fired: Sendable {
        let all = Mutex<[Int]>([])

        var count: Int { all.withLock { $0.count } }

        func add(_ number: Int) { all.withLock { $0.append(number) } }
    }

    init() {
        clock = PipelineClock(manual)
        queue = TimerQueue(on: clock)
    }

    private func moment(_ seconds: Int) -> PipelineClock.Instant { clock.now.advanced(by: .seconds(seconds)) }

    private func schedule(_ seconds: Int) -> TimerQueue.Timer {
        queue.schedule(at: moment(seconds)) { [fired] in
            fired.add(seconds)
            return nil
        }
    }

    @Test("Timers end in the order of their moments, whatever the order in which they were added")
    func order() async throws {
        for seconds in [3, 1, 5, 2, 4] { _ = schedule(seconds) }
        for count in 1...5 {
            try await manual.waitForSleepers()
            manual.advance(by: .seconds(1))
            await eventually { fired.count == count }
        }
        #expect(fired.all.withLock { $0 } == [1, 2, 3, 4, 5])
        #expect(queue.count == 0)
    }

    @Test("A thousand timers sleep once, and a timer that is due earlier than all others ends first")
    func oneSleep() async throws {
        for seconds in 10..<1_010 { _ = schedule(seconds) }
        try await manual.waitForSleepers()
        #expect(manual.sleeperCount == 1)
        _ = schedule(2)
        manual.advance(by: .seconds(2))
        await eventually { fired.all.withLock { $0 } == [2] }
        await eventually { manual.sleeperCount == 1 }
    }

    @Test("A cancelled timer does nothing and releases its action at once")
    func cancelled() async throws {
        weak var released: Fired?
        do {
            let own = Fired()
            released = own
            let timer = queue.schedule(at: moment(1)) {
                own.add(1)
                return nil
            }
            queue.cancel(timer)
            queue.cancel(timer)
        }
        #expect(released == nil)
        _ = schedule(1)
        try await manual.waitForSleepers()
        manual.advance(by: .seconds(1))
        await eventually { fired.count == 1 }
    }

    @Test("Cancelled timers do not gather: after 10,000 of them, beside 100 that wait, at most 300 are kept")
    func bounded() {
        for _ in 0..<100 { _ = schedule(60) }
        for _ in 0..<10_000 { queue.cancel(schedule(30)) }
        #expect(queue.count <= 300)
    }

    @Test("A timer whose action returns a later moment is due again then")
    func again() async throws {
        let (clock, fired) = (clock, fired)
        _ = queue.schedule(at: moment(1)) {
            fired.add(fired.count)
            return fired.count < 3 ? clock.now.advanced(by: .seconds(1)) : nil
        }
        for count in 1...3 {
            try await manual.waitForSleepers()
            manual.advance(by: .seconds(1))
            await eventually { fired.count == count }
        }
        #expect(queue.count == 0)
    }

    @Test("Timers that many tasks add and cancel at the same time end exactly if they were not cancelled")
    func concurrent() async throws {
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<500 {
                        let timer = schedule(1 + (task + number) % 5)
                        if number.isMultiple(of: 2) { queue.cancel(timer) }
                    }
                }
            }
        }
        manual.advance(by: .seconds(5))
        await eventually { fired.count == 2_000 }
        await eventually { queue.count == 0 }
    }
}
