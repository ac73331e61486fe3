import Synchronization

extension Stage {
    /// What calls have in common that got the same response or failure.
    ///
    /// A plugin that gives the outcome of one exchange to several calls makes a shared outcome at the end of the
    /// exchange, and sets it in the context of each call with ``PipelineContext/share(_:isJoined:)``. A plugin that
    /// decides what follows, such as a retry, then decides once for all of them:
    ///
    /// ```swift
    /// let shared = context.sharedOutcome
    /// let end = shared?.end ?? context.clock.now
    /// var random = shared?.random(from: context.random) ?? context.random
    /// let isAllowed = shared?.decision(of: budget) { budget.takeRetry(to: host, at: date) }
    ///     ?? budget.takeRetry(to: host, at: date)
    /// ```
    ///
    /// The calls then wait until the same moment, and their retries share an exchange again.
    ///
    /// Only the contexts of those calls keep the value alive.
    public final class SharedOutcome: Sendable {
        private struct State {
            var seed: UInt64?
            var decisions: [ObjectIdentifier: Bool] = [:]
        }

        /// When the exchange ended.
        public let end: PipelineClock.Instant
        /// Whether the exchange failed and a cache has a stale response, see ``Stage/StaleUse``.
        public let hasStaleResponse: Bool
        /// What the plugin that created the outcome keeps with it.
        public let attachment: (any AnyObject & Sendable)?
        private let earlierExchangeCount: Int
        private let state = Mutex(State())

        /// Creates the outcome that several calls get.
        ///
        /// - Parameters:
        ///   - end: when the exchange ended.
        ///   - earlierExchangeCount: how many exchanges the call that led the exchange had made before.
        ///   - hasStaleResponse: whether the exchange failed and ``Stage/StaleUse`` of that call is
        ///     ``Stage/StaleUse/available``.
        ///   - attachment: what the plugin keeps with the outcome. It must not keep the outcome.
        public init(
            endedAt end: PipelineClock.Instant,
            after earlierExchangeCount: Int = 0,
            hasStaleResponse: Bool = false,
            attachment: (any AnyObject & Sendable)? = nil
        ) {
            self.end = end
            self.attachment = attachment
            self.earlierExchangeCount = earlierExchangeCount
            self.hasStaleResponse = hasStaleResponse
        }

        /// Returns the exchanges that the calls shared, out of those that their common result lists.
        public func exchanges(among exchanges: [PipelineExchange]) -> ArraySlice<PipelineExchange> {
            exchanges.dropFirst(earlierExchangeCount)
        }

        /// Whether a call has asked for ``random(from:)``, which is the first step of a joint retry.
        public var isRetried: Bool { state.withLock { $0.seed != nil } }

        /// Returns the same numbers to every call, from a seed that the first call to ask draws.
        public func random(from source: PipelineRandom) -> PipelineRandom {
            if let seed = state.withLock(\.seed) { return .seeded(seed) }
            let drawn = source.next()
            let seed = state.withLock { state in
                let seed = state.seed ?? drawn
                state.seed = seed
                return seed
            }
            return .seeded(seed)
        }

        /// Makes a decision for all calls, if no call has made it.
        ///
        /// - Parameters:
        ///   - owner: what decides, such as a budget; each owner has a decision of its own.
        ///   - make: makes the decision, once. It runs under a lock and must not ask for another decision.
        /// - Returns: the decision.
        public func decision(of owner: AnyObject, orMake make: () -> Bool) -> Bool {
            let key = ObjectIdentifier(owner)
            return state.withLock { state in
                if let decision = state.decisions[key] { return decision }
                let decision = make()
                state.decisions[key] = decision
                return decision
            }
        }
    }
}

/// What a call has shared so far.
private struct Sharing: PipelineContext.Key {
    static let defaultValue = Sharing()

    var outcome: Stage.SharedOutcome?
    var isJoined = false
}

extension PipelineContext {
    /// The outcome that the call shared last with others; `nil` after an exchange of its own.
    public var sharedOutcome: Stage.SharedOutcome? { self[Sharing.self].outcome }

    /// Whether an attempt of the call ended with the result of another call's exchange.
    public var isJoined: Bool { self[Sharing.self].isJoined }

    /// Sets the outcome that the call shares with others.
    ///
    /// - Parameters:
    ///   - outcome: the outcome, or `nil` after an exchange of its own.
    ///   - isJoined: whether the call has the result of another call's exchange.
    public func share(_ outcome: Stage.SharedOutcome?, isJoined: Bool = false) {
        let past = self[Sharing.self]
        guard past.outcome !== outcome || (isJoined && !past.isJoined) else { return }
        // What the past outcome keeps alive must not be released under the lock of the context.
        withExtendedLifetime(past) {
            update(Sharing.self) { sharing in
                sharing.outcome = outcome
                if isJoined { sharing.isJoined = true }
            }
        }
    }
}
