import Foundation

/// Why a plugin has refused a request, with the time until it may accept one.
private struct Refusal: Error {
    let retryAfter: Duration?
    var cause: PipelineError.RefusalCause?
}

extension PipelineError {
    /// How long to wait before a call may succeed; `nil` if it is not known.
    ///
    /// It is the time until the next probe of an open circuit, the time until a rate limit permits the request, or what
    /// the response asks for in Retry-After. If that is a date and the response has no Date field, it is relative to
    /// the system's date.
    public var retryAfter: Duration? {
        (underlyingError as? Refusal)?.retryAfter ?? response?.retryAfter(now: Date())
    }

    /// A failure of the server for which a plugin refuses requests, or after which it refuses a retry.
    public struct RefusalCause: Sendable, Hashable {
        /// The code of the failure: `unacceptableStatus` for a response, `timeout(.head)` for one that was slower than
        /// `slowCallDuration`, and `timeout(.total)` for an exchange that was cancelled because the call was late.
        public let code: Code
        /// The status of the response; `nil` if there was none or if it was slow.
        public let statusCode: Int?

        /// Creates a cause, for a plugin that refuses requests.
        public init(code: Code, statusCode: Int?) {
            self.code = code
            self.statusCode = statusCode
        }
    }

    /// The failure that lies behind a refusal.
    ///
    /// - For `circuitOpen`, it is the latest one that the circuit has counted; `nil` if the circuit is isolated.
    /// - For `limit.rate`, it is the response that closed the gate or began the throttling, if there is one.
    /// - Otherwise, for `limit.rate`, `limit.concurrency` and `timeout.queue`, it is the failure of the attempt whose
    ///   retry was refused; `nil` for a first attempt.
    ///
    /// `nil` for all other errors.
    public var refusalCause: RefusalCause? { (underlyingError as? Refusal)?.cause }

    /// Whether a plugin refused the request before it was sent.
    public var isRefusal: Bool { underlyingError is Refusal }

    /// Returns the error of a plugin that refuses a request before it is sent.
    ///
    /// - Parameters:
    ///   - code: the code, such as `limit.rate`.
    ///   - reason: the reason, without a secret.
    ///   - retryAfter: how long to wait before a call may succeed; `nil` if it is not known.
    ///   - cause: the failure of the server for which the plugin refuses requests; see ``refusalCause``.
    /// - Returns: the error.
    public static func refused(
        _ code: Code,
        _ reason: String,
        retryAfter: Duration? = nil,
        cause: RefusalCause? = nil
    ) -> PipelineError {
        PipelineError(code, reason, underlyingError: Refusal(retryAfter: retryAfter, cause: cause))
    }
}
