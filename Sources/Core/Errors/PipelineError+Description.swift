import Foundation

extension PipelineError {
    /// The code, the reason, where the error arose, the status, the endpoint, and the outcomes of the exchanges, on one
    /// line.
    ///
    /// The endpoint consists of the method, the host and the path without the query, and the type and case of the
    /// target without its values:
    /// `unacceptableStatus: …; GET api.github.com/zen; target GitHub.zen`.
    public var description: String {
        var text = "\(code.rawValue): \(reason)"
        if let plugin, let stage { text += " (\(plugin), \(stage.rawValue))" }
        if let response, code != .unacceptableStatus { text += "; status \(response.statusCode)" }
        if let request { text += "; \(request.method) \(request.host ?? "")\(request.shownPath)" }
        if let target { text += "; target \(Self.name(of: target))" }
        text += describedExchanges
        if let cause {
            text += "; because of \(cause.code.rawValue): \(cause.reason)"
        } else if let underlyingError, plugin == nil {
            text += "; underlying \(Self.name(of: underlyingError))"
        }
        return text
    }

    /// ``description``, followed by the type and status of a problem that the server reported (RFC 9457).
    public var debugDescription: String {
        guard let problemDetails else { return description }
        return "\(description); problem \(problemDetails)"
    }

    /// ``customText``, or else a short general sentence about the code or the status.
    public var errorDescription: String? { customText?.unlessBlank ?? generalText }

    /// Returns a duration as errors and logs show it: in milliseconds below 10 s, else in seconds, such as `250 ms`.
    public static func text(of duration: Duration) -> String { duration.text }

    /// The outcomes of the exchanges if there are several, at most the last ten, and why no further attempt was made.
    private var describedExchanges: String {
        guard let last = exchanges.last else { return "" }
        var text = ""
        if exchanges.count > 1 {
            let shown = exchanges.suffix(10)
            text += shown.count < exchanges.count ? "; \(exchanges.count) exchanges, the last: " : "; exchanges: "
            text += shown.map { $0.statusCode.map { "\($0)" } ?? $0.failure?.rawValue ?? "" }.joined(separator: ", ")
        }
        guard let refusal = last.refusedRetry else { return text }
        let outcome = last.attempt > 1 ? "gave up after \(last.attempt) attempts" : "not retried"
        return "\(text); \(outcome): \(refusal.rawValue)"
    }

    private var generalText: String {
        switch code {
        case .offline: return "You're not connected to the internet."
        case .timeout: return "The server took too long to respond."
        case .cancelled: return "The request was cancelled."
        case .dns, .connect: return "The server cannot be reached."
        case .tls: return "A secure connection to the server cannot be made."
        case .connectionLost, .truncated: return "The connection to the server was lost."
        case .file(.noSpace): return "There is not enough storage space."
        case .sessionEnded: return "Please sign in again."
        default: if let cause, cause.isNetworkProblem { return cause.generalText }
        }
        switch response?.statusCode {
        case 401?: return "You're not authorized."
        case 403?: return "This action is prohibited."
        case 404?, 410?: return "This item does not exist."
        case 413?: return "What you tried to send is too large."
        case 429?: return "There were too many requests. Try again later."
        case 500?, 502?, 503?, 504?: return "The service is temporarily unavailable. Try again later."
        default: return "Something went wrong."
        }
    }

    /// Returns the type of a target and, for a case of an enum, the case without its values, such as
    /// `GitHub.repository`.
    static func name(of target: any TargetType) -> String {
        let type = "\(Swift.type(of: target))"
        // A type that describes itself may show its values.
        guard !(target is any CustomReflectable) else { return type }
        let mirror = Mirror(reflecting: target)
        guard mirror.displayStyle == .enum else { return type }
        if let label = mirror.children.first?.label { return "\(type).\(label)" }
        let describesItself =
            target is any CustomStringConvertible || target is any CustomDebugStringConvertible
            || target is any TextOutputStreamable
        return describesItself ? type : "\(type).\(target)"
    }
}

extension PipelineRequest {
    /// The path without the query, and without the secrets of the request's fields and query.
    ///
    /// Empty if the path cannot be sent: it may then contain anything, such as a URL or lines that forge a log.
    fileprivate var shownPath: String {
        let path = path
        guard path.utf8.allSatisfy({ $0 == UInt8(ascii: "%") || ByteSet.path.contains($0) }) else { return "" }
        var secrets = MessageSecrets(.standard, minimumByteCount: 4)
        secrets.insert(head, queryNames: secretQueryNames, isMarked: isSecret)
        return Redactor.standard.adding(secretValues: secrets.origins.keys).text(path)
    }
}
