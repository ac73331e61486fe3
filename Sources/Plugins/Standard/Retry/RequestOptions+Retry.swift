public import HTTPTypes
public import PipelineCore

private enum Retry: RequestOptions.Key {
    static let defaultValue = RetryPlugin.Override()

    static func pluginOption(for value: RetryPlugin.Override) -> RequestOptions.PluginOption? {
        value.asksForRetries ? .retry : nil
    }
}

private enum IdempotencyKey: RequestOptions.Key {
    static let defaultValue: RetryPlugin.IdempotencyKey? = nil

    static func pluginOption(for value: RetryPlugin.IdempotencyKey?) -> RequestOptions.PluginOption? {
        value.map { _ in .idempotencyKey }
    }
}

extension RequestOptions {
    /// The settings that override those of ``RetryPlugin`` for this request.
    ///
    /// ```swift
    /// options.retry = .never
    /// options.retry = .init(maximumAttempts: 5)
    /// options.retry = .init(policy: RetryPolicy(methods: RetryPolicy.idempotentMethods.union([.post])))
    /// ```
    ///
    /// Defaults to no overrides.
    public var retry: RetryPlugin.Override {
        get { self[Retry.self] }
        set { self[Retry.self] = newValue }
    }

    /// The key that ``RetryPlugin`` sets in the header field Idempotency-Key if there is none, the same for all
    /// attempts.
    ///
    /// With a key, a request with any method may be retried; the server must support such keys. Defaults to `nil`.
    public var idempotencyKey: RetryPlugin.IdempotencyKey? {
        get { self[IdempotencyKey.self] }
        set { self[IdempotencyKey.self] = newValue }
    }
}

extension RetryPlugin {
    /// Settings for one request; each one that is not `nil` overrides that of the plugin.
    public struct Override: Sendable {
        /// The maximum number of attempts, including the first.
        public let maximumAttempts: Int?
        /// The policy that decides which outcomes are retried.
        public let policy: RetryPolicy?
        /// The wait before each retry.
        public let backoff: RetryPolicy.Backoff?
        /// How long a retry waits for a network if the machine has none.
        public let connectivityWait: ConnectivityWait?

        /// A single attempt, without retries.
        public static let never = Override(maximumAttempts: 1)

        /// Makes overrides for one request.
        ///
        /// - Parameters:
        ///   - maximumAttempts: the maximum number of attempts, including the first, 1 and up.
        ///   - policy: decides which outcomes are retried.
        ///   - backoff: the wait before each retry.
        ///   - connectivityWait: how long a retry waits for a network if the machine has none.
        public init(
            maximumAttempts: Int? = nil,
            policy: RetryPolicy? = nil,
            backoff: RetryPolicy.Backoff? = nil,
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

        /// Whether these settings can lead to a retry: not if all are `nil`, and not with a single attempt.
        fileprivate var asksForRetries: Bool {
            if let maximumAttempts { return maximumAttempts > 1 }
            return policy != nil || backoff != nil || connectivityWait?.isOn == true
        }
    }
}

extension RequestOptions.PluginOption {
    /// The plugin option for ``RequestOptions/retry``.
    public static let retry = Self("retry", of: "RetryPlugin")
    /// The plugin option for ``RequestOptions/idempotencyKey``.
    public static let idempotencyKey = Self("idempotencyKey", of: "RetryPlugin")
}

extension RetryPlugin: OptionHandling {
    /// The options that the plugin handles are `retry` and `idempotencyKey`.
    public var handledOptions: [RequestOptions.PluginOption] { [.retry, .idempotencyKey] }
}

extension OptionsModifying {
    /// Returns a copy that ``RetryPlugin`` retries after these statuses and in no other case.
    ///
    /// The method must be idempotent, or the request must have an idempotency key. This replaces
    /// `RequestOptions.retry`.
    ///
    /// - Parameters:
    ///   - statuses: the statuses after which the request is retried.
    ///   - attempts: the maximum number of retries, 0 and up.
    /// - Returns: the copy.
    public func retry(on statuses: [HTTPResponse.Status], attempts: Int = 3) -> Self {
        precondition(attempts >= 0, "attempts is \(attempts), less than 0")
        let policy = RetryPolicy(statusCodes: Set(statuses.map(\.code))) { $0.error == nil ? nil : .giveBack }
        return options { $0.retry = .init(maximumAttempts: min(attempts, .max - 1) + 1, policy: policy) }
    }
}
