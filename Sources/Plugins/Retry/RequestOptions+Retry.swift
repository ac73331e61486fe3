public import Pipeline

private enum Retry: RequestOptionKey {
    static let defaultValue = RetryPlugin.Override()
}

private enum IdempotencyKeyOption: RequestOptionKey {
    static let defaultValue: RetryPlugin.IdempotencyKey? = nil
}

extension RequestOptions {
    /// What holds for this request instead of the settings of `RetryPlugin`.
    ///
    /// ```swift
    /// options.retry = .never
    /// options.retry = .init(maximumAttempts: 5)
    /// options.retry = .init(policy: RetryPolicy(methods: RetryPolicy.idempotentMethods.union([.post])))
    /// ```
    ///
    /// Default: nothing does.
    public var retry: RetryPlugin.Override {
        get { self[Retry.self] }
        set { self[Retry.self] = newValue }
    }

    /// The key that `RetryPlugin` sets in the field Idempotency-Key when there is none, the same for all attempts.
    ///
    /// With it a request of any method may be sent again; the server has to know of such keys. Default `nil`.
    public var idempotencyKey: RetryPlugin.IdempotencyKey? {
        get { self[IdempotencyKeyOption.self] }
        set { self[IdempotencyKeyOption.self] = newValue }
    }
}

extension RetryPlugin {
    /// Settings of one request, each over that of the plugin; what is `nil` stays as the plugin has it.
    public struct Override: Sendable {
        /// How many attempts in all, the first included.
        public let maximumAttempts: Int?
        /// Which outcomes call for another.
        public let policy: RetryPolicy?
        /// How long to wait between them.
        public let backoff: RetryBackoff?

        /// One attempt and no other.
        public static let never = Override(maximumAttempts: 1)

        /// Makes settings.
        ///
        /// - Parameters:
        ///   - maximumAttempts: how many attempts in all, the first included, 1 and up.
        ///   - policy: which outcomes call for another.
        ///   - backoff: how long to wait between them.
        public init(maximumAttempts: Int? = nil, policy: RetryPolicy? = nil, backoff: RetryBackoff? = nil) {
            if let maximumAttempts {
                precondition(maximumAttempts > 0, "maximumAttempts is \(maximumAttempts), not 1 or more")
            }
            self.maximumAttempts = maximumAttempts
            self.policy = policy
            self.backoff = backoff
        }
    }
}
