import Synchronization

/// Delivers the changes of all circuits of a plugin to its subscribers.
final class CircuitChanges: Sendable {
    typealias Change = CircuitBreakerPlugin.StateChange

    /// The number of changes that a subscriber may leave unread; beyond that, it misses the oldest.
    static let unreadCount = 100

    private struct State {
        var subscribers: [Int: AsyncStream<Change>.Continuation] = [:]
        var nextID = 0
        var pending: [Change] = []
        var isDelivering = false
    }

    private let state = Mutex(State())

    deinit {
        // No lock is needed, but a mutex has no other access.
        for subscriber in state.withLock({ $0.subscribers }).values { subscriber.finish() }
    }

    var subscriberCount: Int { state.withLock { $0.subscribers.count } }

    /// Returns the changes from now on.
    func subscribe() -> AsyncStream<Change> {
        let (stream, continuation) = AsyncStream<Change>.makeStream(bufferingPolicy: .bufferingNewest(Self.unreadCount))
        let id = state.withLock { state in
            state.nextID += 1
            state.subscribers[state.nextID] = continuation
            return state.nextID
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.subscribers.removeValue(forKey: id) }
        }
        return stream
    }

    /// Adds changes for ``deliver()``; may be called under a lock.
    func add(_ changes: [Change]) {
        state.withLock { state in
            if !state.subscribers.isEmpty { state.pending += changes }
        }
    }

    /// Hands over what was added, in order and outside all locks.
    ///
    /// If another thread is delivering, it also delivers the rest.
    func deliver() {
        while let (changes, subscribers) = takePending() {
            for change in changes {
                for subscriber in subscribers { subscriber.yield(change) }
            }
            state.withLock { $0.isDelivering = false }
        }
    }

    private func takePending() -> ([Change], [AsyncStream<Change>.Continuation])? {
        state.withLock { state in
            guard !state.isDelivering, !state.pending.isEmpty else { return nil }
            state.isDelivering = true
            defer { state.pending = [] }
            return (state.pending, state.subscribers.sorted { $0.key < $1.key }.map(\.value))
        }
    }
}
