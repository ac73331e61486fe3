import PipelineCore
import Synchronization

/// The calls that shared an exchange, until each of them has shared another or has ended.
///
/// It is the attachment of their shared outcome, so that only the contexts of those calls keep it alive. A member that
/// repeats its request finds the exchange that another member has begun or joined in the meantime.
final class SharingGroup: Sendable {
    /// The maximum length of the chain of groups that keep each other alive up to this one.
    let depth: Int
    private let key: InflightKey
    private let isFailure: Bool
    private let successors = Mutex<[InflightKey: Successor]>([:])

    /// Creates a group at the end of an exchange.
    ///
    /// - Parameters:
    ///   - key: the key of the exchange.
    ///   - result: the result of the exchange.
    ///   - depth: one more than the greatest depth of the groups whose members shared the exchange.
    init(key: InflightKey, result: Result<PipelineResponse, any Error>, depth: Int) {
        self.key = key
        self.depth = depth
        isFailure =
            switch result {
            case .success(let response): response.statusCode >= 400
            case .failure: true
            }
    }

    /// Returns the exchange that a member has begun or joined for a key.
    func successor(for key: InflightKey) -> Successor? {
        successors.withLock { $0[key] }
    }

    /// Records the exchange that a member has begun or joined.
    ///
    /// - Returns: the exchange that it replaces, to be released outside of locks.
    func setSuccessor(_ successor: Successor, for key: InflightKey) -> Successor? {
        successors.withLock { $0.updateValue(successor, forKey: key) }
    }

    /// Returns whether a member may get the result of an exchange with this key that has ended.
    ///
    /// It may after a failure, after a joint decision to retry, and if its request has changed. A member that repeats
    /// an unchanged request after a success wants to see a change.
    func allowsEndedResult(for key: InflightKey, of outcome: Stage.SharedOutcome) -> Bool {
        isFailure || outcome.isRetried || key != self.key
    }
}
