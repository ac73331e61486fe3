import Foundation
import HTTPTypes
import Pipeline

/// The text of log lines: a pure function of messages and context.
struct LogFormat: Sendable {
    let redactor: Redactor
    let bodyLimit: Int
    let asCURL: Bool

    // MARK: Exchanges

    func sent(_ request: PipelineRequest, _ context: PipelineContext) -> String {
        let text =
            asCURL
            ? request.curlCommand(redactor: redactor, bodyLimit: bodyLimit)
            : "\(request.method) \(redactor.url(of: request))"
        return "\(call(context)) → \(text)"
    }

    func received(_ result: Result<PipelineResponse, PipelineError>, _ context: PipelineContext) -> String {
        let outcome: String
        let exchange: PipelineExchange?
        var notes: [String] = []
        switch result {
        case .success(let response):
            outcome = String(response.statusCode)
            exchange = response.exchanges.last
            notes.append("\(response.body)")
            if let refusal = exchange?.refusedRedirect { notes.append("redirect not followed (\(refusal.rawValue))") }
        case .failure(let error):
            outcome = error.code.rawValue
            exchange = error.exchanges.last
        }
        if let exchange { notes.insert(text(of: exchange.duration), at: 0) }
        let request = exchange.map { "\($0.request.method) \(redactor.url(of: $0.request)) " } ?? ""
        return "\(call(context)) ← \(outcome) \(request)\(notes.joined(separator: ", "))"
    }

    func fields(of request: PipelineRequest, _ context: PipelineContext) -> String {
        "\(call(context)) → fields:" + list(request.headers, of: request)
    }

    func fields(of response: PipelineResponse, _ context: PipelineContext) -> String {
        "\(call(context)) ← fields:" + list(response.headers, of: response.request)
    }

    private func list(_ fields: HTTPFields, of request: PipelineRequest) -> String {
        let lines = redactor.fields(fields, isSecret: request.isSecret).map { "\n    \($0.name): \($0.value)" }
        return lines.isEmpty ? " none" : lines.joined()
    }

    // MARK: Calls

    func requestBody(of request: PipelineRequest, _ context: PipelineContext) -> String {
        "\(call(context)) → body: " + text(of: request.body, contentType: request.headers[.contentType])
    }

    func responseBody(of response: PipelineResponse, _ context: PipelineContext) -> String {
        "\(call(context)) ← body: " + text(of: response.body, contentType: response.headers[.contentType])
    }

    func failure(_ error: PipelineError, _ context: PipelineContext) -> String {
        var what = error.code.rawValue + ": " + oneLine(error.reason)
        if let plugin = error.plugin, let stage = error.stage { what += " (\(oneLine(plugin)), \(stage))" }
        return end(what, request: error.request, context)
    }

    func failure(_ response: PipelineResponse, _ context: PipelineContext) -> String {
        end("status \(response.statusCode)", request: response.request, context)
    }

    private func end(_ what: String, request: PipelineRequest?, _ context: PipelineContext) -> String {
        let method = request?.method ?? context.endpoint.method
        let url = request.map { redactor.url(of: $0) } ?? redactor.url(context.endpoint.url)
        let count = context.exchanges.count
        let exchanges = count == 1 ? "1 exchange" : "\(count) exchanges"
        let duration = text(of: context.start.duration(to: context.clock.now))
        return "\(call(context)) ✗ \(what), \(method) \(url), \(exchanges), \(duration)"
    }

    // MARK: Parts

    private func call(_ context: PipelineContext) -> String {
        var text = "#\(context.callID)"
        if context.attempt > 1 { text += " attempt \(context.attempt)" }
        if context.hop > 0 { text += " hop \(context.hop)" }
        return text
    }

    private func text(of body: PipelineBody, contentType: String?) -> String {
        guard let data = body.bytes else { return "<\(body)>" }
        if data.isEmpty { return "<none>" }
        // Indented, so that no line of a body can be taken for a line of the log.
        return redactor.bodyText(data, contentType: contentType, limit: bodyLimit)
            .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .joined(separator: "\n    ")
    }

    /// Reasons and names come from plugins and targets, and may quote what a server sent.
    private func oneLine(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .lineSeparator, .paragraphSeparator: " "
                    default: scalar
                    }
                }
            )
        )
    }

    private func text(of duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        guard seconds < 10 else { return "\(decimal(seconds * 10 + attoseconds / 100_000_000_000_000_000)) s" }
        let tenths = seconds * 10_000 + attoseconds / 100_000_000_000_000
        return tenths < 100 ? "\(decimal(tenths)) ms" : "\(tenths / 10) ms"
    }

    /// Tenths as a number with a decimal where there is one.
    private func decimal(_ tenths: Int64) -> String {
        tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
