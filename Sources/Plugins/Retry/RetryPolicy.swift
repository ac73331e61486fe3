public import HTTPTypes
public import Pipeline

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
/// Besides these statuses, `connectionLost`, `truncated` and a timeout of an exchange are retried: `timeout.attempt`, `timeout.head`,
/// `timeout.idle`, `timeout.write`, and `timeout` without a phase, if the attempt made an exchange. A failure without a connection is
/// retried whatever the method. The timeout of a plugin, such as `timeout.tokenRefresh`, and `timeout.pool` are not retried unless
/// `decide` says so. `tls`, `timeout.total` and cancellation never are, whatever `decide` says.
///
/// Source: RFC 9110 §9.2.2, https://www.rfc-editor.org/rfc/rfc9110.html#section-9.2.2
public struct RetryPolicy: Sendable {
    /// What to do about an outcome.
    public struct Decision: Sendable, Hashable {
        private enum Kind { case giveBack, retry, retryUnprocessed }

        private let kind: Kind

        /// It is the outcome of the call.
        public static let giveBack = Decision(kind: .giveBack)
        /// Another attempt may help, where the method allows it.
        public static let retry = Decision(kind: .retry)
        /// Another attempt may help, and the server has done nothing yet, so that any method allows it.
        public static let retryUnprocessed = Decision(kind: .retryUnprocessed)
    }

    /// What came of an attempt.
    public struct Outcome: Sendable {
        /// The request as the plugin sent it on.
        public let request: PipelineRequest
        /// The response of any status, or the failure.
        let result: Result<PipelineResponse, PipelineError>
        /// How many attempts the plugin has made, from 1.
        public let attempt: Int
        /// Whether some of the request may have reached a server.
        public let wasSent: Bool

        /// The response, also that of a failure which has one.
        ///
        /// The body of a call made with `stream` is a stream, which a policy
        /// must not read.
        public var response: PipelineResponse? {
            switch result {
            case .success(let response): response
            case .failure(let error): error.response
            }
        }

        /// The failure, `nil` for a response.
        public var error: PipelineError? {
            guard case .failure(let error) = result else { return nil }
            return error
        }
    }

    /// GET, HEAD, OPTIONS, TRACE, PUT, DELETE and QUERY: sent twice they do what they do once.
    public static let idempotentMethods: Set<HTTPRequest.Method> = {
        let named: [HTTPRequest.Method] = [.get, .head, .options, .trace, .put, .delete]
        return Set(named + [HTTPRequest.Method("QUERY")].compactMap { $0 })
    }()

    /// The statuses that are worth another attempt.
    let statusCodes: Set<Int>
    /// The methods that may be sent again; others need an Idempotency-Key field.
    let methods: Set<HTTPRequest.Method>
    /// The longest wait that a server may ask for; for a longer one the response is given back.
    let maximumRetryAfter: Duration
    private let decide: (@Sendable (Outcome) -> Decision?)?

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - statusCodes: the statuses that are worth another attempt.
    ///   - methods: the methods that may be sent again without an Idempotency-Key field.
    ///   - maximumRetryAfter: the longest wait that a server may ask for, `0...6 h`.
    ///   - decide: asked before the rules above; `nil` leaves the outcome to them. It must be quick.
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

    /// Whether a response of this status may call for another attempt.
    func mayRetry(_ statusCode: Int) -> Bool { decide != nil || statusCodes.contains(statusCode) }

    /// Whether the outcome is worth another attempt.
    func decision(after outcome: Outcome) -> Decision {
        switch outcome.error?.code {
        case .some(.cancelled), .some(.tls), .some(.timeout(.total)): return .giveBack
        default: break
        }
        if let decision = decide?(outcome) { return decision }
        switch outcome.result {
        case .success(let response):
            return statusCodes.contains(response.statusCode) ? .retry : .giveBack
        // The pool is busy: another wait would make the line longer.
        case .failure(let error) where error.code == .timeout(.pool):
            return .giveBack
        case .failure(let error) where error.code.provesNothingSent:
            return outcome.wasSent ? .retry : .retryUnprocessed
        case .failure(let error):
            switch error.code {
            case .connectionLost, .truncated: return .retry
            // Without an exchange a plugin has run out of time, whatever phase it names.
            case let code where Self.exchangeTimeouts.contains(code) && outcome.wasSent: return .retry
            default: return .giveBack
            }
        }
    }

    /// The timeouts of an exchange that has a connection; those without one prove that nothing was sent.
    private static let exchangeTimeouts: Set<PipelineError.Code> = [
        .timeout(.attempt), .timeout(.head), .timeout(.idle), .timeout(.write),
    ]

    /// Whether the request may be sent again when it may have been worked on.
    func allowsRepeating(_ request: PipelineRequest) -> Bool {
        methods.contains(request.method) || RetryPlugin.IdempotencyKey.isPresent(in: request)
    }
}
