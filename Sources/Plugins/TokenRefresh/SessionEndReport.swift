import Pipeline
import Synchronization

/// A report of a missing credential, shared by the calls that fail because of it, so that `UnauthorizedPlugin` reports
/// it once.
final class SessionEndReport: Sendable {
    /// The report of a call, for other plugins.
    enum Key: PipelineContextKey {
        static let defaultValue: SessionEndReport? = nil
    }

    private let isClaimed = Atomic(false)

    /// Returns `true` to the first caller, and `false` to all others.
    func claim() -> Bool {
        isClaimed.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
    }
}
