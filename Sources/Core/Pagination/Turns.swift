import Synchronization

/// A lock for each key that is passed on in the order of the requests for it.
package final class Turns<Key: Hashable & Sendable>: Sendable {
    private struct Waiter {
        let id: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var waiting: [Key: [Waiter]] = [:]
        var cancelled: Set<Int> = []
        var count = 0
    }

    /// A key in `waiting` is held.
    private let state = Mutex(State())

    package init() {}

    /// Runs the work after all earlier work with the same key has ended.
    ///
    /// - Throws: `CancellationError` if the task is cancelled while it waits, and the errors of the work.
    @discardableResult
    package func withTurn<Value>(_ key: Key, _ work: () async throws -> Value) async throws -> Value {
        let id = state.withLock { state in
            state.count += 1
            return state.count
        }
        let hasTurn = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isNext: Bool? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return false }
                    guard state.waiting[key] != nil else {
                        state.waiting[key] = []
                        return true
                    }
                    state.waiting[key]?.append(Waiter(id: id, continuation: continuation))
                    return nil
                }
                if let isNext { continuation.resume(returning: isNext) }
            }
        } onCancel: {
            cancel(id, key)
        }
        state.withLock { _ = $0.cancelled.remove(id) }
        guard hasTurn else { throw CancellationError() }
        defer { endTurn(key) }
        return try await work()
    }

    private func cancel(_ id: Int, _ key: Key) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiting[key]?.firstIndex(where: { $0.id == id }) else {
                state.cancelled.insert(id)
                return nil
            }
            return state.waiting[key]?.remove(at: index)
        }
        waiter?.continuation.resume(returning: false)
    }

    private func endTurn(_ key: Key) {
        let next = state.withLock { state -> Waiter? in
            if state.waiting[key]?.isEmpty ?? true {
                state.waiting[key] = nil
                return nil
            }
            return state.waiting[key]?.removeFirst()
        }
        next?.continuation.resume(returning: true)
    }
}
