import Synchronization

/// The timers of all calls on one of the system's clocks, with one sleep for the earliest of them.
///
/// Each sleep of its own switches threads twice, and the runtime keeps a cancelled one until its time has come. Nearly
/// all timers are limits that no call reaches, so here they cost a place in a list.
final class TimerQueue: Sendable {
    /// What happens at a moment, unless the timer is cancelled first.
    final class Timer: Sendable {
        /// Returns the moment at which the timer is due again, if it is; `nil` once the timer is cancelled.
        fileprivate let action: Mutex<(@Sendable () -> PipelineClock.Instant?)?>

        fileprivate var isCancelled: Bool { action.withLock { $0 == nil } }

        fileprivate init(_ action: @escaping @Sendable () -> PipelineClock.Instant?) { self.action = Mutex(action) }
    }

    private struct Entry {
        let moment: PipelineClock.Instant
        let timer: Timer
    }

    private struct State {
        /// The earliest first.
        var entries: [Entry] = []
        var cancelledCount = 0
        /// When the sleep ends; `nil` if nothing sleeps.
        var wakeUp: PipelineClock.Instant?
        var sleep: Task<Void, Never>?

        mutating func insert(_ entry: Entry) {
            var (low, high) = (0, entries.count)
            while low < high {
                let middle = (low + high) / 2
                if entries[middle].moment <= entry.moment { low = middle + 1 } else { high = middle }
            }
            entries.insert(entry, at: low)
        }

        /// Removes the timers that are due, and cancelled ones before the next.
        mutating func takeDue(at now: PipelineClock.Instant) -> [Timer] {
            let past = entries.prefix { $0.moment <= now || $0.timer.isCancelled }
            let due = past.map(\.timer).filter { !$0.isCancelled }
            cancelledCount -= past.count - due.count
            entries.removeFirst(past.count)
            return due
        }

        mutating func removeCancelled() {
            entries.removeAll { $0.timer.isCancelled }
            cancelledCount = 0
        }
    }

    static let continuous = TimerQueue(on: PipelineClock(ContinuousClock()))
    static let suspending = TimerQueue(on: PipelineClock(SuspendingClock()))

    private let clock: PipelineClock
    private let state = Mutex(State())

    init(on clock: PipelineClock) { self.clock = clock }

    /// The number of timers in the list, cancelled ones included.
    var count: Int { state.withLock { $0.entries.count } }

    /// Adds a timer.
    func schedule(
        at moment: PipelineClock.Instant,
        _ action: @escaping @Sendable () -> PipelineClock.Instant?
    ) -> Timer {
        let timer = Timer(action)
        add(Entry(moment: moment, timer: timer))
        return timer
    }

    /// Cancels a timer, whose action is released at once; does nothing if it has ended.
    func cancel(_ timer: Timer) {
        guard let action = timer.action.withLock({ $0.take() }) else { return }
        // The action is released without a lock, because it can be the last reference to anything.
        defer { withExtendedLifetime(action) {} }
        state.withLock { state in
            state.cancelledCount += 1
            // So cancelling costs the same whatever the number of timers.
            if state.cancelledCount > 64, state.cancelledCount > state.entries.count / 2 { state.removeCancelled() }
        }
    }

    private func add(_ entry: Entry) {
        state.withLock { state in
            state.insert(entry)
            if state.wakeUp.map({ entry.moment < $0 }) ?? true { sleep(until: entry.moment, &state) }
        }
    }

    private func sleep(until moment: PipelineClock.Instant, _ state: inout State) {
        state.sleep?.cancel()
        state.wakeUp = moment
        state.sleep = Task.detached { await self.wake(at: moment) }
    }

    private func wake(at moment: PipelineClock.Instant) async {
        guard (try? await clock.sleep(until: moment)) != nil else { return }
        let due = state.withLock { state -> [Timer] in
            // Another sleep may have replaced this one as it ended.
            guard !Task.isCancelled else { return [] }
            let due = state.takeDue(at: clock.now)
            (state.sleep, state.wakeUp) = (nil, nil)
            if let next = state.entries.first { sleep(until: next.moment, &state) }
            return due
        }
        for timer in due {
            guard let next = timer.action.withLock({ $0 })?() else {
                timer.action.withLock { $0 = nil }
                continue
            }
            add(Entry(moment: next, timer: timer))
        }
    }
}
