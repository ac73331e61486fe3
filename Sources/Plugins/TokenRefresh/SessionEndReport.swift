import Pipeline
import Synchronization

/// The lack of a credential, shared by the calls that fail for it, so that only one of them reports it to `UnauthorizedPlugin`.
final class SessionEndReport: Sendable {
    /// The report that the call brings along.
    enum Key: PipelineContextKey {
        static let defaultValue: SessionEndReport? = nil
    }

    private let isClaimed = Atomic(false)

    /// Returns `true` to the first caller, and `false` to all others.
    func claim() -> Bool {
        isClaimed.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
    }
}
