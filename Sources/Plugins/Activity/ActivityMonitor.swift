import Pipeline
import Synchronization

/// Counts calls and tells the handler what is shown, in one task at most.
final class ActivityMonitor: Sendable {
    private struct Shared {
        var activity: ActivityState
        /// What the handler has to be told: at most two, since a change that is undone before it was told need not be.
        var changes: [Bool] = []
        var hasTask = false
        /// That of the first call: moments on two clocks cannot be compared.
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
        // Asked outside the lock, for it may be anybody's code.
        let now = clock.now
        let needsTask = shared.withLock { shared in
            let origin = shared.origin ?? now
            shared.origin = origin
            shared.note(change(&shared.activity, origin.duration(to: now)))
            guard !shared.hasTask, !shared.changes.isEmpty || shared.activity.nextTick != nil else { return false }
            shared.hasTask = true
            return true
        }
        // Detached, so that a call which the handler makes does not count as one made inside this call.
        if needsTask { Task.detached { await self.work(clock) } }
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
