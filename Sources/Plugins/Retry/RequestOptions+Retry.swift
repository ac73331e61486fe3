public import Pipeline

private enum Retry: RequestOptionKey {
    static let defaultValue = RetryPlugin.Override()

    static func pluginOption(for value: RetryPlugin.Override) -> RequestOptions.PluginOption? {
        value.asksForRetries ? .retry : nil
    }
}

private enum IdempotencyKey: RequestOptionKey {
    static let defaultValue: RetryPlugin.IdempotencyKey? = nil

    static func pluginOption(for value: RetryPlugin.IdempotencyKey?) -> RequestOptions.PluginOption? {
        value.map { _ in .idempotencyKey }
    }
}

extension RequestOptions {
    /// The settings that replace those of ``RetryPlugin`` for this request.
    ///
    /// ```swift
    /// options.retry = .never
    /// options.retry = .init(maximumAttempts: 5)
    /// options.retry = .init(policy: RetryPolicy(methods: RetryPolicy.idempotentMethods.union([.post])))
    /// ```
    ///
    /// Defaults to no settings.
    public var retry: RetryPlugin.Override {
        get { self[Retry.self] }
        set { self[Retry.self] = newValue }
    }

    /// The key that ``RetryPlugin`` sets in the field Idempotency-Key if there is none, the same for all attempts.
    ///
    /// With it a request of any method may be retried; the server has to support such keys. Defaults to `nil`.
    public var idempotencyKey: RetryPlugin.IdempotencyKey? {
        get { self[IdempotencyKey.self] }
        set { self[IdempotencyKey.self] = newValue }
    }
}

extension RetryPlugin {
    /// Settings of one request, each of which replaces that of the plugin unless it is `nil`.
    public struct Override: Sendable {
        /// How many attempts in all, the first included.
        public let maximumAttempts: Int?
        /// Which outcomes call for another.
        public let policy: RetryPolicy?
        /// How long to wait between them.
        public let backoff: RetryBackoff?
        /// How long to wait for a network.
        public let connectivityWait: ConnectivityWait?

        /// One attempt and no other.
        public static let never = Override(maximumAttempts: 1)

        /// Makes settings.
        ///
        /// - Parameters:
        ///   - maximumAttempts: how many attempts in all, the first included, 1 and up.
        ///   - policy: which outcomes call for another.
        ///   - backoff: how long to wait between them.
        ///   - connectivityWait: how long a retry waits for a network if the machine has none.
        public init(
            maximumAttempts: Int? = nil,
            policy: RetryPolicy? = nil,
            backoff: RetryBackoff? = nil,
            connectivityWait: ConnectivityWait? = nil
        ) {
            if let maximumAttempts {
                precondition(maximumAttempts > 0, "maximumAttempts is \(maximumAttempts), not 1 or more")
            }
            self.maximumAttempts = maximumAttempts
            self.policy = policy
            self.backoff = backoff
            self.connectivityWait = connectivityWait
        }

        /// Whether a retry can follow from these settings: not if they are all `nil`, and not from a single attempt.
        fileprivate var asksForRetries: Bool {
            if let maximumAttempts { return maximumAttempts > 1 }
            return policy != nil || backoff != nil || connectivityWait?.isOn == true
        }
    }
}

extension RequestOptions.PluginOption {
    /// ``RequestOptions/retry``.
    public static let retry = Self("retry", of: "RetryPlugin")
    /// ``RequestOptions/idempotencyKey``.
    public static let idempotencyKey = Self("idempotencyKey", of: "RetryPlugin")
}

extension RetryPlugin: OptionHandling {
    /// `retry`, `idempotencyKey`.
    public var handledOptions: [RequestOptions.PluginOption] { [.retry, .idempotencyKey] }
}
