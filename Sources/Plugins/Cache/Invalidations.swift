import Synchronization

/// The latest changes of resources, so that a response that is older than a change is not stored after it.
///
/// Bounded: beyond 1,000 resources, all responses to requests that have begun before are not stored.
final class Invalidations: Sendable {
    private struct State {
        var count = 0
        var floor = 0
        var latest: [String: Int] = [:]
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
