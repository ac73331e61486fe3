import PipelineCore

extension RateLimitPlugin {
    /// What in a response closes the gate of its partition.
    public struct Signals: OptionSet, Sendable, Hashable {
        /// The signals as bits.
        public let rawValue: Int

        /// Makes a set from bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The fields Retry-After and Retry-After-Ms of a response with the status 403, 429 or 503.
        public static let retryAfter = Signals(rawValue: 1)
        /// The fields RateLimit and RateLimit-Policy in all drafts from the third, and RateLimit-Remaining and
        /// RateLimit-Reset, if they say that a quota is used up.
        ///
        /// RateLimit and RateLimit-Policy of more than 1 KiB are ignored.
        public static let rateLimit = Signals(rawValue: 2)
        /// The fields X-RateLimit-Remaining and X-RateLimit-Reset if they say that a quota is used up.
        ///
        /// X-Rate-Limit-Remaining and X-Rate-Limit-Reset have the same effect. The reset is a number of seconds or, if
        /// it exceeds 1,000,000,000, a moment in seconds since 1970.
        public static let xRateLimit = Signals(rawValue: 4)

        /// Those that are standardized or in drafts of a standard: `retryAfter` and `rateLimit`.
        public static let standard: Signals = [.retryAfter, .rateLimit]
    }

    /// What happens to requests while the store of a shared limit is unavailable.
    public struct StoreFailurePolicy: Sendable, Hashable {
        /// The share of the limit that each process uses; `nil` if requests are refused.
        let share: Double?

        /// Each process keeps the whole limit on its own, so that together they may exceed it; the default.
        public static let local = StoreFailurePolicy(share: 1)

        /// Each process keeps a share of the limit on its own.
        ///
        /// - Parameter share: the share, more than 0 and up to 1, such as 0.25 for four processes.
        /// - Returns: the policy.
        public static func local(share: Double) -> StoreFailurePolicy {
            precondition(share > 0 && share <= 1, "share is \(share), not above 0 and up to 1")
            return StoreFailurePolicy(share: share)
        }

        /// Requests are refused with `limit.rate`, so that the limit is never exceeded.
        public static let refuse = StoreFailurePolicy(share: nil)
    }
}
