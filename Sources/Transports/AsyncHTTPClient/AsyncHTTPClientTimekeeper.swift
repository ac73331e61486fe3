#if AsyncHTTPClient
import PipelineCore
import Synchronization

/// A timekeeper that monitors all exchanges of a transport that wait for the network, with a single timer.
///
/// A timer for each exchange would wake a thread for each, which is a fifth of the cost of a small exchange.
final class AsyncHTTPClientTimekeeper: Sendable {
    private struct State {
        var waits: [Int: (watch: AsyncHTTPClientWatch, cancel: @Sendable () -> Void)] = [:]
        var lastID = 0
        var isTicking = false
    }

    /// Real time, whatever the provider's clock is, like the timers of the client.
    static let clock = PipelineClock(ContinuousClock())

    private let state = Mutex(State())
    private let longestPause: Duration

    /// - Parameter timeouts: the timeouts of all waits. No wait ends earlier than the shortest of them.
    init(_ timeouts: [Duration?]) {
        longestPause = ([.seconds(1)] + timeouts.compactMap { $0 }).min() ?? .seconds(1)
    }

    /// Starts monitoring a wait, and cancels it when its time is up.
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
            // A wait that begins in the meantime lasts at least the shortest timeout from now.
            wake = min(next, clock.now.advanced(by: pause))
        }
    }

    /// Cancels expired waits.
    ///
    /// Returns when to check next, or `nil` if nothing is waiting.
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
