import PipelineCore
import Synchronization

/// Counts calls and reports to the handler whether the indicator is shown, in at most one task at a time.
final class ActivityMonitor: Sendable {
    private struct Shared {
        var activity: ActivityState
        /// The changes that the handler has yet to receive.
        ///
        /// There are at most two, because a change that is undone before it is reported is dropped.
        var changes: [Bool] = []
        var hasTask = false
        /// The clock of the first call, because instants of different clocks cannot be compared.
        var clock: PipelineClock?
        var origin: PipelineClock.Instant?

        mutating func note(_ change: Bool?) {
            guard let change else { return }
            if changes.count == 2 { changes.removeLast() } else { changes.append(change) }
        }
    }

    private enum Step {
        case tell([Bool])
        case sleep(until: PipelineClock.Instant)
        case end
    }

    private let shared: Mutex<Shared>
    private let handler: @Sendable (Bool) async -> Void

    init(_ activity: ActivityState, handler: @escaping @Sendable (Bool) async -> Void) {
        shared = Mutex(Shared(activity: activity))
        self.handler = handler
    }

    var callCount: Int { shared.withLock { $0.activity.callCount } }

    func begin(_ clock: PipelineClock) {
        change(clock) { $0.begin(at: $1) }
    }

    func end(_ clock: PipelineClock) {
        change(clock) { $0.end(at: $1) }
    }

    private func change(_ callClock: PipelineClock, _ change: (inout ActivityState, Duration) -> Bool?) {
        let clock = shared.withLock { shared in
            let clock = shared.clock ?? callClock
            shared.clock = clock
            return clock
        }
        // Read outside the lock, because the clock may be a caller's code.
        let now = clock.now
        let needsTask = shared.withLock { shared in
            let origin = shared.origin ?? now
            shared.origin = origin
            shared.note(change(&shared.activity, origin.duration(to: now)))
            guard !shared.hasTask, !shared.changes.isEmpty || shared.activity.nextTick != nil else { return false }
            shared.hasTask = true
            return true
        }
        // Detached, so that a call that the handler makes does not count as part of this call.
        if needsTask { Task.detached(executorPreference: clock.taskExecutor) { await self.work(clock) } }
    }

    private func work(_ clock: PipelineClock) async {
        while true {
            switch step(at: clock.now) {
            case .tell(let changes): for isShown in changes { await handler(isShown) }
            case .sleep(let end): try? await clock.sleep(until: end)
            case .end: return
            }
        }
    }

    private func step(at now: PipelineClock.Instant) -> Step {
        shared.withLock { shared in
            let origin = shared.origin ?? now
            if shared.changes.isEmpty { shared.note(shared.activity.tick(at: origin.duration(to: now))) }
            guard shared.changes.isEmpty else {
                defer { shared.changes = [] }
                return .tell(shared.changes)
            }
            if let next = shared.activity.nextTick { return .sleep(until: origin.advanced(by: next)) }
            shared.hasTask = false
            return .end
        }
    }
}
