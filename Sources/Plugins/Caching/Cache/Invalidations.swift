import Synchronization

/// The latest changes of resources, and the removals of responses that the store has not made yet.
///
/// Each resource is a text of ``CacheRules``, because the store that has the secret for its hash may not respond.
final class Invalidations: Sendable {
    private struct State {
        var changes = ChangeLog<String>()
        /// The numbers of the removals that the store has not made yet.
        var pending: [String: Int] = [:]
        var lastNumber = 0
        /// Whether a task retries the removals.
        var isRetrying = false

        mutating func addPending(_ resource: String) {
            // Beyond the bound, the oldest removal is forgotten; the store has failed for a thousand others by then.
            if pending.count >= maximumCount, let oldest = pending.min(by: { $0.value < $1.value }) {
                pending[oldest.key] = nil
            }
            lastNumber += 1
            pending[resource] = lastNumber
        }
    }

    private static let maximumCount = 1_000

    private let state = Mutex(State())

    /// The number of changes so far.
    var count: Int { state.withLock { $0.changes.count } }

    /// Records that a resource has changed.
    func add(_ resource: String) {
        state.withLock { state in
            state.changes.add(resource)
            state.addPending(resource)
        }
    }

    /// Records that all resources have changed.
    func addAll() { state.withLock { $0.changes.addAll() } }

    /// Returns whether a resource has not changed since there were that many changes.
    func isCurrent(_ resource: String, since count: Int) -> Bool {
        state.withLock { $0.changes.isCurrent(resource, since: count) }
    }

    /// Records that the responses of a resource have to be removed, although it has not changed.
    func addPending(_ resource: String) { state.withLock { $0.addPending(resource) } }

    /// Returns the number of a removal that the store has not made yet; `nil` if there is none.
    func pending(_ resource: String) -> Int? { state.withLock { $0.pending[resource] } }

    /// Records that the store has made a removal.
    func end(_ resource: String, _ number: Int) {
        state.withLock { if $0.pending[resource] == number { $0.pending[resource] = nil } }
    }

    /// Returns whether the caller must begin to retry the removals, because some are left and no task does so yet.
    func beginRetries() -> Bool {
        state.withLock { state in
            guard !state.isRetrying, !state.pending.isEmpty else { return false }
            state.isRetrying = true
            return true
        }
    }

    /// Ends the retries if no removal is left, or if the task `givesUp`; returns the resources that are left if not.
    func endRetries(givesUp: Bool) -> [String]? {
        state.withLock { state in
            guard givesUp || state.pending.isEmpty else { return Array(state.pending.keys) }
            state.isRetrying = false
            return nil
        }
    }
}
