public import HTTPTypes
public import PipelineCore

/// The rules that decide which outcomes are retried.
///
/// ```swift
/// RetryPlugin(policy: RetryPolicy(statusCodes: [429, 503]))
/// RetryPlugin(policy: RetryPolicy { outcome in
///     outcome.response?.data == Data("busy".utf8) ? .retry : nil
/// })
/// ```
///
/// **Defaults**
///
/// | setting | default | range |
/// |---|---|---|
/// | `statusCodes` | 408, 429, 500, 502, 503, 504 | 100...999 |
/// | `methods` | ``idempotentMethods`` | |
/// | `maximumRetryAfter` | 60 s | 0...6 h |
/// | `decide` | none | |
///
/// Besides these statuses, the policy retries after `connectionLost`, `truncated` and `cache.unreadable` and, if the
/// attempt made an exchange, after `timeout.attempt`, `timeout.head`, `timeout.idle` and `timeout.write`. It retries
/// after a failure to connect whatever the method. It does not retry after `timeout.pool` or the timeout of a plugin,
/// such as `timeout.tokenRefresh`, unless `decide` says so. It never retries after `tls`, `proxy.authentication`,
/// `timeout.total` or cancellation, whatever `decide` says.
///
/// Source: RFC 9110 §9.2.2, https://www.rfc-editor.org/rfc/rfc9110.html#section-9.2.2
public struct RetryPolicy: Sendable {
    /// A decision about an outcome.
    public struct Decision: Sendable, Hashable {
        private enum Kind { case giveBack, retry, retryUnprocessed }

        private let kind: Kind

        /// Ends the call with this outcome.
        public static let giveBack = Decision(kind: .giveBack)
        /// Retries, if the method allows it.
        public static let retry = Decision(kind: .retry)
        /// Retries whatever the method, because the server has not processed the request.
        public static let retryUnprocessed = Decision(kind: .retryUnprocessed)
    }

    /// The outcome of an attempt.
    public struct Outcome: Sendable {
        /// The request as the plugin passed it on.
        public let request: PipelineRequest
        /// The response, with any status, or the failure.
        let result: Result<PipelineResponse, PipelineError>
        /// The number of attempts that the plugin has made, from 1.
        public let attempt: Int
        /// Whether a part of the request may have reached a server.
        public let wasSent: Bool

        /// Creates the outcome of an attempt, for a plugin that asks the policy.
        ///
        /// - Parameters:
        ///   - request: the request as the plugin passed it on.
        ///   - result: the response, with any status, or the failure.
        ///   - attempt: the number of attempts that the plugin has made, from 1.
        ///   - wasSent: whether a part of the request may have reached a server.
        public init(
            request: PipelineRequest,
            result: Result<PipelineResponse, PipelineError>,
            attempt: Int,
            wasSent: Bool
        ) {
            self.request = request
            self.result = result
            self.attempt = attempt
            self.wasSent = wasSent
        }

        /// The response, including that of a failure; `nil` for a failure without one.
        ///
        /// The body of a call made with `stream` is a stream, which a policy must not read.
        public var response: PipelineResponse? { result.response }

        /// The failure; `nil` for a response.
        public var error: PipelineError? { result.error }
    }

    /// The idempotent methods GET, HEAD, OPTIONS, TRACE, PUT, DELETE and QUERY: repeating a request has no further
    /// effect.
    public static let idempotentMethods: Set<HTTPRequest.Method> = {
        let named: [HTTPRequest.Method] = [.get, .head, .options, .trace, .put, .delete]
        return Set(named + [HTTPRequest.Method("QUERY")].compactMap { $0 })
    }()

    /// The statuses that are retried.
    let statusCodes: Set<Int>
    /// The methods that may be retried; others require an Idempotency-Key field.
    let methods: Set<HTTPRequest.Method>
    /// The longest wait that a server may ask for; if it asks for more, the call ends with the response.
    public let maximumRetryAfter: Duration
    private let decide: (@Sendable (Outcome) -> Decision?)?

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - statusCodes: the statuses that are retried.
    ///   - methods: the methods that may be retried without an Idempotency-Key field.
    ///   - maximumRetryAfter: the longest wait that a server may ask for, `0...6 h`.
    ///   - decide: called before the rules above, which apply if it returns `nil`. It must be quick.
    public init(
        statusCodes: Set<Int> = [408, 429, 500, 502, 503, 504],
        methods: Set<HTTPRequest.Method> = RetryPolicy.idempotentMethods,
        maximumRetryAfter: Duration = .seconds(60),
        decide: (@Sendable (_ outcome: Outcome) -> Decision?)? = nil
    ) {
        let nonsense = statusCodes.filter { !(100...999).contains($0) }.sorted()
        precondition(nonsense.isEmpty, "statusCodes holds \(nonsense), not in 100...999")
        precondition(
            (.zero ... .seconds(6 * 3_600)).contains(maximumRetryAfter),
            "maximumRetryAfter is \(maximumRetryAfter), not between 0 and 6 hours"
        )
        self.statusCodes = statusCodes
        self.methods = methods
        self.maximumRetryAfter = maximumRetryAfter
        self.decide = decide
    }

    /// Returns whether a response with this status may be retried.
    public func mayRetry(_ statusCode: Int) -> Bool { decide != nil || statusCodes.contains(statusCode) }

    /// Returns whether the outcome is to be retried.
    public func decision(after outcome: Outcome) -> Decision {
        switch outcome.error?.code {
        case .some(.cancelled), .some(.tls), .some(.timeout(.total)), .some(.proxy(.authentication)): return .giveBack
        default: break
        }
        if let decision = decide?(outcome) { return decision }
        switch outcome.result {
        case .success(let response):
            return statusCodes.contains(response.statusCode) ? .retry : .giveBack
        // The pool is busy: another wait would lengthen its queue.
        case .failure(let error) where error.code == .timeout(.pool):
            return .giveBack
        case .failure(let error) where error.code.provesNothingSent:
            return outcome.wasSent ? .retry : .retryUnprocessed
        case .failure(let error):
            switch error.code {
            case .connectionLost, .truncated, .unreadableCache: break
            // Without an exchange, the timeout comes from a plugin, whatever phase it names.
            case let code where Self.exchangeTimeouts.contains(code) && outcome.wasSent: break
            default: return .giveBack
            }
            // If only the body of an error response is missing, its head says why the request failed.
            guard let status = error.statusCode, status >= 400 else { return .retry }
            return statusCodes.contains(status) ? .retry : .giveBack
        }
    }

    /// The timeouts of an exchange that has a connection; those before a connection prove that nothing was sent.
    private static let exchangeTimeouts: Set<PipelineError.Code> = [
        .timeout(.attempt), .timeout(.head), .timeout(.idle), .timeout(.write),
    ]

    /// Returns whether the request may be retried although the server may have processed it.
    public func allowsRepeating(_ request: PipelineRequest) -> Bool {
        methods.contains(request.method) || RetryPlugin.IdempotencyKey.isPresent(in: request)
    }
}
