#if AsyncHTTPClient
import Pipeline
import Synchronization

/// Looks after all exchanges of a transport that wait for the network, with one timer for all of them.
///
/// A timer for each would wake a thread for each: a fifth of what a small exchange costs.
final class AsyncHTTPClientTimekeeper: Sendable {
    private struct State {
        var waits: [Int: (watch: AsyncHTTPClientWatch, cancel: @Sendable () -> Void)] = [:]
        var lastID = 0
        var isTicking = false
    }

    /// The network's time is real, whatever the clock of the provider, as it is for the timers of the client.
    static let clock = PipelineClock(ContinuousClock())

    private let state = Mutex(State())
    private let longestPause: Duration

    /// - Parameter timeouts: of all waits; none of them is over sooner after it began than the shortest.
    init(_ timeouts: [Duration?]) {
        longestPause = ([.seconds(1)] + timeouts.compactMap { $0 }).min() ?? .seconds(1)
    }

    /// Begins to look after a wait, and cancels it when its time is up.
    func add(_ watch: AsyncHTTPClientWatch, cancel: @escaping @Sendable () -> Void) -> Int {
        let (id, starts) = state.withLock { state in
            state.lastID += 1
            state.waits[state.lastID] = (watch, cancel)
            defer { state.isTicking = true }
            return (state.lastID, !state.isTicking)
        }
        if starts { Task.detached { [longestPause] in await Self.tick(longestPause, self.look) } }
        return id
    }

    func remove(_ id: Int) {
        state.withLock { _ = $0.waits.removeValue(forKey: id) }
    }

    private static func tick(_ pause: Duration, _ look: @Sendable () -> PipelineClock.Instant?) async {
        var wake = clock.now.advanced(by: pause)
        while true {
            try? await clock.sleep(until: wake)
            guard let next = look() else { return }
            // A wait that begins meanwhile ends no earlier than the shortest of the times from now.
            wake = min(next, clock.now.advanced(by: pause))
        }
    }

    /// Cancels what has waited for too long, and says when to look again: `nil` for never, since nobody waits.
    private func look() -> PipelineClock.Instant? {
        let now = Self.clock.now
        let waits = state.withLock { state in
            if state.waits.isEmpty { state.isTicking = false }
            return Array(state.waits.values)
        }
        guard !waits.isEmpty else { return nil }
        var next = now.advanced(by: longestPause)
        for wait in waits {
            guard let deadline = wait.watch.nextDeadline(at: now) else { continue }
            if deadline <= now { wait.cancel() } else { next = min(next, deadline) }
        }
        return next
    }
}
#endif
