import Foundation
public import Pipeline

/// Why a plugin has refused a request, with the time until it may accept one.
struct TrafficRefusal: Error {
    let retryAfter: Duration?
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

    /// Returns the error of a plugin that refuses a request.
    static func refused(_ code: Code, _ reason: String, retryAfter: Duration? = nil) -> PipelineError {
        PipelineError(code, reason, underlyingError: TrafficRefusal(retryAfter: retryAfter))
    }
}
