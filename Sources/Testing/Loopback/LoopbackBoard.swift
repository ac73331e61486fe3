import Foundation
import Synchronization

/// The events at a loopback server, and the tasks that wait for them.
final class LoopbackBoard: Sendable {
    private struct Watcher {
        let isSatisfied: @Sendable (LoopbackServer.Activity) -> Bool
        let waiter: Waiter
    }

    private struct State {
        var activity = LoopbackServer.Activity()
        var requests: [LoopbackServer.Request] = []
        var watchers: [Watcher] = []
        var released: Set<String> = []
        var holds: [(name: String, signal: DispatchSemaphore)] = []
        var isStopped = false
    }

    private let state = Mutex(State())
    /// Keeps connection threads from contending for the mutex.
    ///
    /// The thread sanitizer does not see its slow path and would report false races.
    private let gate = NSLock()

    var activity: LoopbackServer.Activity { withState { $0.activity } }

    var requests: [LoopbackServer.Request] { withState { $0.requests } }

    func record(_ request: LoopbackServer.Request) {
        change { state in
            state.requests.append(request)
            state.activity.requestCount += 1
        }
    }

    func connectionBegan() {
        change { state in
            state.activity.connectionCount += 1
            state.activity.openConnectionCount += 1
        }
    }

    func connectionEnded() {
        change { $0.activity.openConnectionCount -= 1 }
    }

    func wait(
        until isSatisfied: @escaping @Sendable (LoopbackServer.Activity) -> Bool,
        waiter: Waiter = Waiter()
    ) async throws {
        let isOver = withState { state in
            if state.isStopped || isSatisfied(state.activity) { return true }
            state.watchers.append(Watcher(isSatisfied: isSatisfied, waiter: waiter))
            return false
        }
        if isOver { return }
        defer { withState { $0.watchers.removeAll { $0.waiter === waiter } } }
        try await waiter.wait { "a test waited in vain for events at a loopback server; there were \(self.activity)" }
    }

    /// Blocks the thread until the name is released or the server stops.
    ///
    /// The time is longer than that of a test's wait, which can explain more.
    ///
    /// - Returns: `false` if neither happened in three minutes.
    func hold(_ name: String, within bound: DispatchTimeInterval = .seconds(180)) -> Bool {
        let signal = DispatchSemaphore(value: 0)
        change { state in
            state.activity.holdCount += 1
            if state.isStopped || state.released.contains(name) {
                signal.signal()
            } else {
                state.holds.append((name, signal))
            }
        }
        return signal.wait(timeout: .now() + bound) == .success
    }

    func release(_ name: String) {
        change { state in
            state.released.insert(name)
            for hold in state.holds where hold.name == name { hold.signal.signal() }
            state.holds.removeAll { $0.name == name }
        }
    }

    /// Releases all waiters and scripts, now and later.
    func stop() {
        change { state in
            state.isStopped = true
            for hold in state.holds { hold.signal.signal() }
            state.holds = []
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let woken = withState { state in
            body(&state)
            let activity = state.activity
            let isStopped = state.isStopped
            let woken = state.watchers.filter { isStopped || $0.isSatisfied(activity) }
            state.watchers.removeAll { isStopped || $0.isSatisfied(activity) }
            return woken
        }
        for watcher in woken { watcher.waiter.end() }
    }

    private func withState<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        gate.withLock { state.withLock { body(&$0) } }
    }
}
