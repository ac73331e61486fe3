public import HTTPTypes
public import PipelineCore
import PipelinePlugins

/// The rules that decide after which outcomes a ``FallbackPlugin`` makes a response of its own.
///
/// ```swift
/// FallbackPolicy(methods: [.get, .post])
/// FallbackPolicy { outcome in outcome.error?.code == .dns ? false : nil }
/// FallbackPolicy { outcome in outcome.error?.refusalCause?.code == .dns ? false : nil }
/// ```
///
/// **Defaults**
///
/// | setting | default | range |
/// |---|---|---|
/// | `statusCodes` | 500, 502, 503, 504 | 100...999 |
/// | `methods` | GET, HEAD, OPTIONS, TRACE, QUERY: the safe methods | |
/// | `decide` | none | |
///
/// Besides these statuses, the policy applies to `offline`, `dns`, `connect`, `connectionLost`, `truncated`, all kinds
/// of `timeout`, `circuitOpen`, `limit.concurrency` and `limit.rate`. It never applies to a cancelled call or to a
/// method that is not in `methods`, whatever `decide` returns.
public struct FallbackPolicy: Sendable {
    /// The outcome of everything inside the plugin.
    public struct Outcome: Sendable {
        /// The request as it entered the plugin; the plugin's own response belongs to it.
        public let request: PipelineRequest
        /// The response, with any status, or the failure.
        let result: Result<PipelineResponse, PipelineError>

        /// The response, including that of a failure; `nil` for a failure without one.
        ///
        /// The body of a call made with `stream` is a stream, which must not be read.
        public var response: PipelineResponse? {
            switch result {
            case .success(let response): response
            case .failure(let error): error.response
            }
        }

        /// The failure; `nil` for a response.
        public var error: PipelineError? {
            guard case .failure(let error) = result else { return nil }
            return error
        }
    }

    private static let safeMethods = RetryPolicy.idempotentMethods.subtracting([.put, .delete])

    private let statusCodes: Set<Int>
    private let methods: Set<HTTPRequest.Method>
    private let decide: (@Sendable (Outcome) -> Bool?)?

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - statusCodes: the statuses of responses that are replaced.
    ///   - methods: the methods whose outcomes may be replaced; `nil` for the safe ones. After another method, a
    ///     response of the plugin hides whether the server has processed the request.
    ///   - decide: called before the rules above, which apply if it returns `nil`. It must be quick.
    public init(
        statusCodes: Set<Int> = [500, 502, 503, 504],
        methods: Set<HTTPRequest.Method>? = nil,
        decide: (@Sendable (_ outcome: Outcome) -> Bool?)? = nil
    ) {
        let nonsense = statusCodes.filter { !(100...999).contains($0) }.sorted()
        precondition(nonsense.isEmpty, "statusCodes holds \(nonsense), not in 100...999")
        self.statusCodes = statusCodes
        self.methods = methods ?? Self.safeMethods
        self.decide = decide
    }

    /// Returns whether a response with this status may be replaced.
    func mayReplace(_ statusCode: Int) -> Bool { decide != nil || statusCodes.contains(statusCode) }

    /// Returns whether the outcome is to be replaced.
    func replaces(_ outcome: Outcome) -> Bool {
        guard methods.contains(outcome.request.method), outcome.error?.code != .cancelled else { return false }
        if let decision = decide?(outcome) { return decision }
        switch outcome.result {
        case .success(let response): return statusCodes.contains(response.statusCode)
        case .failure(let error):
            switch error.code {
            case .offline, .dns, .connect, .connectionLost, .truncated, .timeout: return true
            default: return Self.refusals.contains(error.code)
            }
        }
    }

    /// The codes of the plugins that refuse requests to protect a server.
    private static let refusals: Set<PipelineError.Code> = [
        .circuitOpen, .limit(.concurrency), .limit(.rate),
    ]
}
