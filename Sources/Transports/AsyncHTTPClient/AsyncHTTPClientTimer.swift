#if AsyncHTTPClient
import PipelineCore
import Synchronization

/// A timer for all exchanges of a transport that wait for the network.
///
/// A timer of its own for each exchange would wake a thread for each, which is a fifth of the cost of a small exchange.
final class AsyncHTTPClientTimer: Sendable {
    private struct State {
        var waits: [Int: (timeouts: AsyncHTTPClientTimeouts, cancel: @Sendable () -> Void)] = [:]
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
    func add(_ timeouts: AsyncHTTPClientTimeouts, cancel: @escaping @Sendable () -> Void) -> Int {
        let (id, starts) = state.withLock { state in
            state.lastID += 1
            state.waits[state.lastID] = (timeouts, cancel)
            defer { state.isTicking = true }
            return (state.lastID, !state.isTicking)
        }
        if starts { Task.detached { await self.tick() } }
        return id
    }

    func remove(_ id: Int) {
        state.withLock { _ = $0.waits.removeValue(forKey: id) }
    }

    private func tick() async {
        var wake = Self.clock.now.advanced(by: longestPause)
        while true {
            try? await Self.clock.sleep(until: wake)
            guard let next = look() else { return }
            // A wait that begins in the meantime lasts at least the shortest timeout from now.
            wake = min(next, Self.clock.now.advanced(by: longestPause))
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
            guard let deadline = wait.timeouts.nextDeadline(at: now) else { continue }
            if deadline <= now { wait.cancel() } else { next = min(next, deadline) }
        }
        return next
    }
}
#endif
