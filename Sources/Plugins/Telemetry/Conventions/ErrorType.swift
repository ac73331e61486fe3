#if Telemetry
import PipelineCore

/// The values of the attribute `error.type`, which metrics and traces share.
enum ErrorType {
    /// The value of a code that a plugin or an app defines.
    static let other = "_OTHER"

    /// Returns the code, or `_OTHER` if this package defines neither the code nor its kind.
    static func of(_ code: PipelineError.Code) -> String {
        let name = code.rawValue
        let end = name.firstIndex(of: ".") ?? name.endIndex
        return names.contains(String(name[..<end])) ? name : other
    }

    /// Returns the status of an exchange that has failed; `nil` for a status of 100 to 399.
    static func of(statusCode: Int) -> String? {
        (100..<400).contains(statusCode) ? nil : "\(statusCode)"
    }

    /// Returns the value of a call.
    ///
    /// - Parameters:
    ///   - error: the error of the call, if it ended with one.
    ///   - statusCode: the status of its response, if it had one.
    ///   - accepted: the statuses that the call accepts; if it accepts all, a status of 400 or more is a failure.
    /// - Returns: the value; `nil` if the call succeeded.
    static func ofCall(_ error: PipelineError?, statusCode: Int?, _ accepted: ValidationType) -> String? {
        if let error, error.code != .unacceptableStatus { return of(error.code) }
        guard let statusCode else { return error.map { of($0.code) } }
        let isAccepted = accepted == .anyStatus ? of(statusCode: statusCode) == nil : accepted.accepts(statusCode)
        return isAccepted && error == nil ? nil : "\(statusCode)"
    }

    private static let names: Set<String> = [
        "timeout", "cancelled", "connect", "connectionLost", "dns", "tls", "offline", "transport", "truncated",
        "malformedResponse", "contentCoding", "unacceptableStatus", "limit", "redirect", "invalidRequest", "encoding",
        "mapping", "plugin", "bodyConsumed", "bodyChanged", "file", "stubWithoutTransport", "clientClosed",
        "circuitOpen", "unknownEnvironment", "tokenRefresh", "excessiveRefresh", "sessionEnded", "pagination",
        "recording", "cache", "cookies", "oauth", "proxy", "unsupported",
    ]
}
#endif
