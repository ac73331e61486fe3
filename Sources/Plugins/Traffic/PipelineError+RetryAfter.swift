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

    /// A failure of the server for which a plugin refuses requests, or after which it refuses a retry.
    public struct RefusalCause: Sendable, Hashable {
        /// The code of the failure: `unacceptableStatus` for a response, `timeout(.head)` for one that was slower than
        /// `slowCallDuration`, and `timeout(.total)` for an exchange that was cancelled because the call was late.
        public let code: Code
        /// The status of the response; `nil` if there was none or if it was slow.
        public let statusCode: Int?

        /// What errors call the failure.
        var text: String { statusCode.map { "status \($0)" } ?? code.rawValue }
    }

    /// The failure that lies behind a refusal.
    ///
    /// - For `circuitOpen`, it is the latest one that the circuit has counted; `nil` if the circuit is isolated.
    /// - For `limit.rate`, it is the response that closed the gate or began the throttling, if there is one.
    /// - Otherwise, for `limit.rate`, `limit.concurrency` and `timeout.queue`, it is the failure of the attempt whose
    ///   retry was refused; `nil` for a first attempt.
    ///
    /// `nil` for all other errors.
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

    /// Returns the error of a plugin that refuses a request after a failure, which the reason names first.
    static func refused(
        _ code: Code,
        after cause: RefusalCause?,
        _ reason: String,
        retryAfter: Duration? = nil
    ) -> PipelineError {
        let text = cause.map { "after \($0.text), \(reason)" } ?? reason
        return refused(code, text, retryAfter: retryAfter, cause: cause)
    }
}

extension PipelineContext {
    /// How the attempt before failed; `nil` in the first attempt.
    var earlierFailure: PipelineError.RefusalCause? {
        guard let exchange = exchanges.last(where: { $0.attempt < attempt }) else { return nil }
        if let code = exchange.failure { return .init(code: code, statusCode: exchange.statusCode) }
        guard let status = exchange.statusCode, status >= 400 else { return nil }
        return .init(code: .unacceptableStatus, statusCode: status)
    }
}
