import Logging
import Pipeline

extension LoggingPlugin.Event {
    /// The line as it is written without a formatter.
    public var description: String {
        switch kind {
        case .request: "\(call) → \(message.form == .curl ? curlCommand ?? "" : "\(method) \(url)")"
        case .requestFields: "\(call) → fields:" + fieldLines
        case .requestBody: "\(call) → body: " + indentedBody
        case .response: "\(call) ← " + answer
        case .responseFields: "\(call) ← fields:" + fieldLines
        case .responseBody: "\(call) ← body: " + indentedBody
        case .summary: "\(call) " + summary
        case .failure: "\(call) ✗ " + failure
        default: "\(call) \(kind)"
        }
    }

    /// What a logger of one's own gets besides the line.
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["call": "\(callID)", "attempt": "\(attempt)", "event": "\(kind)"]
        if hop > 0 { metadata["hop"] = "\(hop)" }
        if let statusCode { metadata["status"] = "\(statusCode)" }
        if let code { metadata["code"] = "\(message.redactor.text(code.rawValue))" }
        return metadata
    }

    private var call: String {
        var text = "#\(callID)"
        if attempt > 1 { text += " attempt \(attempt)" }
        if hop > 0 { text += " hop \(hop)" }
        return text
    }

    /// The status, or why there is none.
    private var outcome: String { statusCode.map { "\($0)" } ?? code?.rawValue ?? "" }

    private var answer: String {
        var notes: [String] = []
        if let duration { notes.append(duration.forPeople) }
        if message.response != nil { notes.append("\(messageBody)") }
        if let refusedRedirect { notes.append("redirect not followed (\(refusedRedirect.rawValue))") }
        let request = message.exchange == nil ? "" : "\(method) \(url) "
        return "\(code?.rawValue ?? outcome) \(request)\(notes.joined(separator: ", "))"
    }

    private var summary: String {
        var text = "\(code?.rawValue ?? outcome) \(method) \(url) \(duration?.forPeople ?? ""), \(exchanges)"
        if let byteCount { text += ", \(byteCount) bytes" }
        return text
    }

    private var failure: String {
        var what = code.map { "\($0.rawValue): \(reason ?? "")" } ?? "status \(outcome)"
        if let plugin, let stage { what += " (\(plugin), \(stage))" }
        return "\(what), \(method) \(url), \(exchanges), \(duration?.forPeople ?? "")"
    }

    private var exchanges: String { exchangeCount == 1 ? "1 exchange" : "\(exchangeCount) exchanges" }

    private var fieldLines: String {
        let fields = fields
        return fields.isEmpty ? " none" : fields.map { "\n    \($0.name): \($0.value)" }.joined()
    }

    /// Indented, so that no line of a body can be taken for a line of the log.
    private var indentedBody: String {
        let body = body ?? ""
        var result = ""
        var start = body.utf8.startIndex
        while let end = body.utf8[start...].firstIndex(where: { $0 == 0x0a || $0 == 0x0d }) {
            result += body[start..<end] + "\n    "
            start = body.utf8.index(after: end)
            if body.utf8[end] == 0x0d, start < body.utf8.endIndex, body.utf8[start] == 0x0a {
                start = body.utf8.index(after: start)
            }
        }
        return start == body.startIndex ? body : result + body[start...]
    }
}

extension Duration {
    fileprivate var forPeople: String {
        let (seconds, attoseconds) = components
        guard seconds < 10 else { return "\(Self.decimal(seconds * 10 + attoseconds / 100_000_000_000_000_000)) s" }
        let tenths = seconds * 10_000 + attoseconds / 100_000_000_000_000
        return tenths < 100 ? "\(Self.decimal(tenths)) ms" : "\(tenths / 10) ms"
    }

    /// Tenths as a number with a decimal where there is one.
    private static func decimal(_ tenths: Int64) -> String {
        tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
