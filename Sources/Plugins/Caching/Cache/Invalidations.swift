import Synchronization

/// The latest changes of resources, so that a response that is older than a change is not stored after it.
///
/// Each resource is a text of ``CacheRules``, because the store that has the secret for its hash may not respond.
///
/// Bounded: beyond 1,000 resources, all responses to requests that have begun before are not stored.
final class Invalidations: Sendable {
    private struct State {
        var count = 0
        var floor = 0
        var latest: [String: Int] = [:]
        /// The changes whose responses the store has not removed yet.
        var pending: [String: Int] = [:]
        /// Whether a task retries the removals.
        var isRetrying = false

        mutating func addPending(_ resource: String) {
            // Beyond the bound, the oldest change is forgotten; the store has failed for a thousand others by then.
            if pending.count >= maximumCount, let oldest = pending.min(by: { $0.value < $1.value }) {
                pending[oldest.key] = nil
            }
            pending[resource] = count
        }
    }

    private static let maximumCount = 1_000
    private let state = Mutex(State())

    /// The number of changes so far.
    var count: Int { state.withLock { $0.count } }

    /// Records that a resource has changed.
    func add(_ resource: String) {
        state.withLock { state in
            state.count += 1
            if state.latest.count >= Self.maximumCount {
                state.latest = [:]
                state.floor = state.count
            }
            state.latest[resource] = state.count
            state.addPending(resource)
        }
    }

    /// Records that the responses of a resource have to be removed, although it has not changed.
    func addPending(_ resource: String) {
        state.withLock { state in
            state.count += 1
            state.addPending(resource)
        }
    }

    /// Returns the number of the change whose responses have to be removed; `nil` if there is none.
    func pending(_ resource: String) -> Int? { state.withLock { $0.pending[resource] } }

    /// Records that the responses of a change have been removed.
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

    /// Records that all resources have changed.
    func addAll() {
        state.withLock { state in
            state.count += 1
            state.latest = [:]
            state.floor = state.count
        }
    }

    /// Returns whether a resource has not changed since there were that many changes.
    func isCurrent(_ resource: String, since count: Int) -> Bool {
        state.withLock { count >= $0.floor && ($0.latest[resource] ?? 0) <= count }
    }
}
