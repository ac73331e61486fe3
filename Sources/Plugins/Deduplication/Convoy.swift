import Pipeline
import Synchronization

/// The calls that shared an exchange, until each of them has shared another or has ended.
///
/// Only the contexts of those calls keep it alive. A member that retries its request finds the exchange that another
/// member has begun or joined in the meantime. A plugin that retries gets one random draw and one decision of its
/// budget for all members.
final class Convoy: Sendable {
    private struct State {
        var successors: [InflightKey: Successor] = [:]
        var seed: UInt64?
        var decisions: [ObjectIdentifier: Bool] = [:]
    }

    /// When the exchange ended.
    let end: PipelineClock.Instant
    /// The maximum length of the chain of convoys that keep each other alive up to this one.
    let depth: Int
    /// Whether the exchange failed and the cache has a stale response.
    let hasStale: Bool
    private let key: InflightKey
    private let isFailure: Bool
    private let earlierExchangeCount: Int
    private let state = Mutex(State())

    /// Creates a convoy at the end of an exchange.
    ///
    /// - Parameters:
    ///   - key: the key of the exchange.
    ///   - result: the result of the exchange.
    ///   - end: when the exchange ended.
    ///   - depth: one more than the greatest depth of the convoys whose members shared the exchange.
    ///   - earlierExchangeCount: how many exchanges the call that led the exchange had made before it.
    ///   - hasStale: whether the exchange failed and the cache has a stale response.
    init(
        key: InflightKey,
        result: Result<PipelineResponse, any Error>,
        end: PipelineClock.Instant,
        depth: Int,
        earlierExchangeCount: Int,
        hasStale: Bool = false
    ) {
        self.key = key
        self.end = end
        self.depth = depth
        self.hasStale = hasStale
        self.earlierExchangeCount = earlierExchangeCount
        isFailure =
            switch result {
            case .success(let response): response.statusCode >= 400
            case .failure: true
            }
    }

    /// Returns the exchanges on the wire that the members shared, out of those that their common result lists.
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

    /// Returns the exchange that a member has begun or joined for a key.
    func successor(for key: InflightKey) -> Successor? {
        state.withLock { $0.successors[key] }
    }

    /// Records the exchange that a member has begun or joined.
    ///
    /// - Returns: the exchange that it replaces, to be released outside of locks.
    func setSuccessor(_ successor: Successor, for key: InflightKey) -> Successor? {
        state.withLock { $0.successors.updateValue(successor, forKey: key) }
    }

    /// Returns whether a member may get the result of an exchange with this key that has ended.
    ///
    /// It may after a failure, after a joint decision to retry, and if its request has changed. A member that repeats
    /// an unchanged request after a success wants to see a change.
    func allowsEndedResult(for key: InflightKey) -> Bool {
        isFailure || state.withLock { $0.seed != nil } || key != self.key
    }
}
