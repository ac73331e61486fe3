import Foundation
public import Pipeline

/// Why a plugin has refused a request, with the time until it may accept one.
struct TrafficRefusal: Error {
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
        (underlyingError as? TrafficRefusal)?.retryAfter ?? response?.retryAfter(now: Date())
    }

    /// The latest failure of the server for which a plugin refuses requests.
    public struct RefusalCause: Sendable, Hashable {
        /// The code of the failure: `unacceptableStatus` for a response, `timeout(.head)` for one that was slower than
        /// `slowCallDuration`, and `timeout(.total)` for an exchange that was cancelled because the call was late.
        public let code: Code
        /// The status of the response; `nil` if there was none or if it was slow.
        public let statusCode: Int?
    }

    /// The failure that lies behind a refusal: the latest one that a circuit has counted, for `circuitOpen`.
    ///
    /// `nil` for all other errors, and for a circuit that is isolated.
    public var refusalCause: RefusalCause? { (underlyingError as? TrafficRefusal)?.cause }

    /// Whether a plugin refused the request before it was sent.
    var isRefusal: Bool { underlyingError is TrafficRefusal }

    /// Returns the error of a plugin that refuses a request.
    static func refused(
        _ code: Code,
        _ reason: String,
        retryAfter: Duration? = nil,
        cause: RefusalCause? = nil
    ) -> PipelineError {
        PipelineError(code, reason, underlyingError: TrafficRefusal(retryAfter: retryAfter, cause: cause))
    }
}
