import Pipeline
import Synchronization

/// The calls that shared an exchange, until each of them has shared another or has ended.
///
/// The contexts of those calls keep it alive, and nothing else does. A member that sends its request again finds the exchange that
/// another member has begun or joined in the meantime, and a plugin that retries finds one random draw and one decision of its
/// budget for all members.
final class Convoy: Sendable {
    private struct State {
        var successors: [InflightKey: Successor] = [:]
        var seed: UInt64?
        var decisions: [ObjectIdentifier: Bool] = [:]
    }

    /// When the exchange ended.
    let end: PipelineClock.Instant
    /// How many convoys keep each other alive up to this one, at most.
    let depth: Int
    private let key: InflightKey
    private let isFailure: Bool
    private let earlierExchangeCount: Int
    private let state = Mutex(State())

    /// Makes a convoy at the end of an exchange.
    ///
    /// - Parameters:
    ///   - key: the key of the exchange.
    ///   - result: what the exchange came to.
    ///   - end: when it ended.
    ///   - depth: one more than the greatest depth of the convoys whose members have shared it.
    ///   - earlierExchangeCount: how many exchanges the call that led it had made before.
    init(
        key: InflightKey,
        result: Result<PipelineResponse, any Error>,
        end: PipelineClock.Instant,
        depth: Int,
        earlierExchangeCount: Int
    ) {
        self.key = key
        self.end = end
        self.depth = depth
        self.earlierExchangeCount = earlierExchangeCount
        isFailure =
            switch result {
            case .success(let response): response.statusCode >= 400
            case .failure: true
            }
    }

    /// The exchanges on the wire that the members shared, of those that their common result lists.
    func exchanges(among exchanges: [PipelineExchange]) -> ArraySlice<PipelineExchange> {
        exchanges.dropFirst(earlierExchangeCount)
    }

    // MARK: Joint retries

    /// Returns the same numbers to every member, from a seed that the first member to ask draws.
    func random(from source: PipelineRandom) -> PipelineRandom {
        if let seed = state.withLock(\.seed) { return .seeded(seed) }
        let drawn = source.next()
        let seed = state.withLock { state in
            let seed = state.seed ?? drawn
            state.seed = seed
            return seed
        }
        return .seeded(seed)
    }

    /// Returns the decision of a budget, which the first member to ask obtains for all.
    func decision(of budget: ObjectIdentifier, orMake make: () -> Bool) -> Bool {
        state.withLock { state in
            if let decision = state.decisions[budget] { return decision }
            let decision = make()
            state.decisions[budget] = decision
            return decision
        }
    }

    // MARK: Successors

    /// The exchange that a member has begun or joined for this key.
    func successor(for key: InflightKey) -> Successor? {
        state.withLock { $0.successors[key] }
    }

    /// Notes the exchange that a member has begun or joined.
    ///
    /// - Returns: the one that it replaces, to be released outside of locks.
    func setSuccessor(_ successor: Successor, for key: InflightKey) -> Successor? {
        state.withLock { $0.successors.updateValue(successor, forKey: key) }
    }

    /// Whether a member may get the result of an exchange with this key that has ended.
    ///
    /// It may after a failure, after a joint decision to retry, and when its request has changed. A member that sends the same
    /// request after a success wants to see a change.
    func allowsEndedResult(for key: InflightKey) -> Bool {
        isFailure || state.withLock { $0.seed != nil } || key != self.key
    }
}
