import Logging
import PipelineCore

extension LoggingPlugin.Event {
    /// The line that is written without a formatter.
    public var description: String {
        var text = "#"
        // Enough for most lines, so that they are built in place.
        text.reserveCapacity(200)
        text += String(callID)
        if attempt > 1 { text.append(" attempt ", attempt) }
        if hop > 0 { text.append(attempt > 1 ? ", redirect " : " redirect ", hop) }
        switch kind {
        case .request: appendRequest(to: &text)
        case .requestFields: text += " → fields:" + fieldLines
        case .requestBody: text += " → body: " + indentedBody
        case .response: appendAnswer(to: &text)
        case .responseFields: text += " ← fields:" + fieldLines
        case .responseBody: text += " ← body: " + indentedBody
        case .summary: appendSummary(to: &text)
        case .failure: appendFailure(to: &text)
        default: text += " \(kind)"
        }
        return text
    }

    /// The metadata that a logger of your own gets besides the line.
    var metadata: Logger.Metadata {
        var metadata = Logger.Metadata(minimumCapacity: 10)
        metadata["call"] = .string(String(callID))
        metadata["attempt"] = .string(String(attempt))
        metadata["event"] = .string(kind.description)
        metadata["method"] = .string(method)
        if let host { metadata["host"] = .string(host) }
        if let template = context.target.pathTemplate { metadata["template"] = .string(template) }
        if let duration { metadata["duration"] = .string(String(duration / .seconds(1))) }
        if hop > 0 { metadata["hop"] = .string(String(hop)) }
        if let statusCode { metadata["status"] = .string(String(statusCode)) }
        if let code { metadata["code"] = .string(message.redactor.text(code.rawValue)) }
        return metadata
    }

    private func appendRequest(to text: inout String) {
        text += " → "
        if message.form == .curl { text += curlCommand ?? "" } else { appendMethodAndURL(to: &text) }
    }

    private func appendAnswer(to text: inout String) {
        text += " ← "
        appendResult(to: &text)
        text += " "
        let cacheStatus = message.exchange == nil ? message.response?.cacheStatus : nil
        if message.exchange != nil || cacheStatus != nil {
            appendMethodAndURL(to: &text)
            text += " "
        }
        var separator = ""
        func append(_ note: String) {
            text += separator
            text += note
            separator = ", "
        }
        if let duration { append(PipelineError.text(of: duration)) }
        if message.response != nil { append(messageBody.description) }
        if let cacheStatus { append("cache: \(cacheStatus)") }
        if let refusedRedirect { append("redirect not followed: \(refusedRedirect.rawValue)") }
        for annotation in annotations { append(shown(annotation)) }
    }

    private func appendSummary(to text: inout String) {
        text += " "
        appendResult(to: &text)
        text += " "
        appendMethodAndURL(to: &text)
        text += " "
        text += duration.map(PipelineError.text(of:)) ?? ""
        appendExchanges(to: &text)
        if let byteCount {
            text.append(", ", byteCount)
            text += " bytes"
        }
        appendAnnotations(to: &text)
    }

    private func appendFailure(to text: inout String) {
        text += " ✗ "
        if code == nil { text += context.validationType == .anyStatus ? "status " : "unacceptableStatus " }
        appendResult(to: &text)
        if code != nil { text += ": \(reason ?? "")" }
        if let plugin, let stage { text += " (\(plugin), \(stage))" }
        text += ", "
        appendMethodAndURL(to: &text)
        text += ", "
        text += duration.map(PipelineError.text(of:)) ?? ""
        appendExchanges(to: &text)
        appendAnnotations(to: &text)
    }

    private func appendAnnotations(to text: inout String) {
        for annotation in annotations { text += ", \(shown(annotation))" }
    }

    private func shown(_ annotation: PipelineContext.Annotation) -> String {
        message.redactor.text(annotation.description)
    }

    /// Appends the code of the failure, or else the status.
    private func appendResult(to text: inout String) {
        text += code?.rawValue ?? statusCode.map { String($0) } ?? ""
    }

    private func appendMethodAndURL(to text: inout String) {
        text += method
        text += " "
        text += url
    }

    private func appendExchanges(to text: inout String) {
        let count = exchangeCount
        text.append(", ", count)
        text += count == 1 ? " exchange" : " exchanges"
    }

    private var fieldLines: String {
        let fields = fields
        return fields.isEmpty ? " none" : fields.map { "\n    \($0.name): \($0.value)" }.joined()
    }

    /// Indented, so that a line of a body cannot be mistaken for a line of the log.
    private var indentedBody: String {
        let lines = (body ?? "").split(omittingEmptySubsequences: false) {
            $0 == "\n" || $0 == "\r" || $0 == "\r\n"
        }
        return lines.joined(separator: "\n    ")
    }
}

extension String {
    /// Avoids interpolation, which allocates strings of its own.
    fileprivate mutating func append(_ text: String, _ number: Int) {
        self += text
        self += String(number)
    }
}
