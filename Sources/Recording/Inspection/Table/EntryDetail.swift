import Foundation
import HTTPTypes
import PipelineCore

/// One entry of a recording in full: request, response, times and the beginning of the bodies.
struct EntryDetail {
    private let entry: RecordedEntry
    private let redactor: Redactor
    private static let shownByteCount = 4_096

    /// - Parameters:
    ///   - entry: the entry to show.
    ///   - redactor: decides which values are shown.
    init(_ entry: RecordedEntry, redactor: Redactor = .standard) {
        self.entry = entry
        self.redactor = redactor
    }

    /// Returns the lines.
    ///
    /// If `isColored` is `true`, the status has a colour and headings are bold.
    func lines(isColored: Bool = false) throws -> [String] {
        let exchange = try entry.result.get()
        func heading(_ text: String) -> String { isColored ? TerminalStyle.bold.applied(to: text) : text }
        let request = exchange.request
        var lines = [
            heading("\(RecordingTable.visible(request.method)) \(redactor.url(request.url))"), times(of: exchange),
        ]
        lines += ["", heading("request")] + fields(request.headers) + body(request.body, request.headers)
        let status = RecordingTable.status(of: exchange)
        let isFailure = exchange.failure != nil || exchange.response == nil
        let style = TerminalStyle.of(status: isFailure ? nil : exchange.response?.status)
        let reason = RecordingTable.visible(redactor.text(exchange.response?.reasonPhrase ?? ""))
        let outcome = [heading("response"), isColored ? style.applied(to: status) : status, reason]
        lines += ["", outcome.filter { !$0.isEmpty }.joined(separator: " ")]
        if let failure = exchange.failure, !failure.text.isEmpty {
            lines.append("  failure: " + RecordingTable.visible(redactor.text(failure.text)))
        }
        if let response = exchange.response {
            lines += fields(response.headers) + body(response.body, response.headers)
        }
        return lines
    }

    private func times(of exchange: RecordedExchange) -> String {
        var parts: [String] = []
        if let start = exchange.start { parts.append("sent " + HARDate.text(start)) }
        if exchange.response != nil { parts.append("header fields after " + RecordingTable.time(exchange.headDelay)) }
        parts.append("end after " + RecordingTable.time(exchange.duration))
        if !exchange.httpVersion.isEmpty { parts.append(RecordingTable.visible(exchange.httpVersion)) }
        return parts.joined(separator: ", ")
    }

    private func fields(_ fields: HTTPFields) -> [String] {
        redactor.fields(fields).map { "  \($0.name): \(RecordingTable.visible($0.value))" }
    }

    /// Returns the size of a body, and its text if it has one.
    private func body(_ body: Data?, _ fields: HTTPFields) -> [String] {
        guard let body, !body.isEmpty else { return [] }
        let text = redactor.bodyText(body, contentType: fields[.contentType], limit: Self.shownByteCount)
        // The redactor has escaped all other control characters.
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return ["  body, \(RecordingTable.size(body.count)):"] + lines.map { "  \($0)" }
    }
}
