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

    /// ``customText``, or else a general text about the code or the status that says what people can do.
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
        guard last.attempt > 1 else { return "\(text); not retried: \(refusal.rawValue)" }
        text += "; gave up after \(last.attempt) attempts"
        return refusal == .attemptsUsedUp ? text : "\(text): \(refusal.rawValue)"
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
