import Foundation
import HTTPTypes
import PipelineCore

/// The entries of a recording as a table.
struct RecordingTable {
    private let entries: [RecordedEntry]
    private let redactor: Redactor
    /// The scheme and authority that all URLs share, redacted; `nil` if they differ.
    let origin: String?

    /// - Parameters:
    ///   - entries: the entries to show.
    ///   - redactor: decides which values are shown.
    init(_ entries: [RecordedEntry], redactor: Redactor = .standard) {
        self.entries = entries
        self.redactor = redactor
        let urls = entries.compactMap { try? $0.result.get().request.url }.map { redactor.url($0) }
        let origins = Set(urls.map { Self.origin(of: $0) })
        origin = origins.count == 1 ? origins.first.flatMap { $0 } : nil
    }

    /// Returns the scheme and authority of a URL, or `nil` if it has no authority.
    private static func origin(of url: String) -> String? {
        guard let mark = url.range(of: "://") else { return nil }
        return String(url[..<(url[mark.upperBound...].firstIndex { "/?#".contains($0) } ?? url.endIndex)])
    }

    /// Returns the lines of the table.
    ///
    /// - Parameters:
    ///   - width: the width of the terminal, in characters. Longer URLs are cut, to no fewer than 20 characters.
    ///   - isColored: whether the status has a colour and the first line is bold.
    /// - Returns: the names of the columns, one line for each entry, and the reasons why entries cannot be read.
    func lines(width: Int = 120, isColored: Bool = false) -> [String] {
        let head = ["#", "method", origin == nil ? "URL" : "path", "status", "type", "size", "time"]
        let rows = entries.map(row)
        var fixed = TextTable([.right, .left, .right, .left, .right, .right])
        for row in [head] + rows { fixed.append([row[0], row[1], row[3], row[4], row[5], row[6]]) }
        let urlWidth = max(20, width - fixed.widths.reduce(0, +) - 2 * 6)
        var table = TextTable([.right, .left, .left, .right, .left, .right, .right])
        table.append(head)
        for (entry, var row) in zip(entries, rows) {
            row[2] = Self.cut(row[2], to: urlWidth)
            table.append(row, styles: isColored ? [3: Self.style(of: entry)] : [:])
        }
        var lines = table.lines
        if isColored { lines[0] = TerminalStyle.bold.applied(to: lines[0]) }
        return lines + problems
    }

    /// The reasons why entries cannot be read, one line for each.
    var problems: [String] {
        entries.compactMap { entry in
            guard case .failure(let error) = entry.result else { return nil }
            return "entry \(entry.index) cannot be read: \(redactor.text("\(error)"))"
        }
    }

    // MARK: Rows

    private func row(of entry: RecordedEntry) -> [String] {
        let number = "\(entry.index)"
        guard case .success(let exchange) = entry.result else { return [number, "?", "?", "?", "", "", ""] }
        let response = exchange.response
        let type = response?.headers[.contentType]?.prefix { $0 != ";" }
        return [
            number,
            Self.visible(exchange.request.method),
            place(of: exchange.request.url),
            Self.status(of: exchange),
            Self.cut(Self.visible(redactor.text(String(type ?? ""))), to: 32),
            response.map { Self.size(entry.missingByteCount ?? $0.body.count) } ?? "",
            Self.time(exchange.duration),
        ]
    }

    /// Returns the path and the query if all entries have one origin, otherwise the URL.
    private func place(of url: String) -> String {
        let shown = redactor.url(url)
        guard let origin else { return shown }
        let path = String(shown.dropFirst(origin.count))
        return path.hasPrefix("/") ? path : "/" + path
    }

    private static func style(of entry: RecordedEntry) -> TerminalStyle {
        guard case .success(let exchange) = entry.result, exchange.failure == nil else { return .red }
        return .of(status: exchange.response?.status)
    }

    static func status(of exchange: RecordedExchange) -> String {
        let status = exchange.response.map { "\($0.status)" }
        let failure = exchange.failure.map { visible($0.code) }
        return [status, failure].compactMap { $0 }.joined(separator: " ")
    }

    /// Formats a number of bytes with a unit of at most 3 letters.
    static func size(_ byteCount: Int) -> String {
        if byteCount < 1024 { return "\(byteCount) B" }
        var value = Double(byteCount) / 1024
        for unit in ["KiB", "MiB"] {
            if value < 1024 { return decimal(value) + " " + unit }
            value /= 1024
        }
        return decimal(value) + " GiB"
    }

    static func time(_ duration: Duration) -> String {
        let milliseconds = duration / .milliseconds(1)
        return milliseconds < 1000 ? decimal(milliseconds) + " ms" : decimal(milliseconds / 1000) + " s"
    }

    private static func decimal(_ value: Double) -> String {
        guard abs(value) < 1e12 else { return "∞" }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }

    static func cut(_ text: String, to width: Int) -> String {
        text.count > width ? text.prefix(max(0, width - 1)) + "…" : text
    }

    /// Returns a text with control characters and bidirectional controls, which would change what a terminal shows, as
    /// `\u{…}`.
    static func visible(_ text: String) -> String { text.escapingControls(keeping: "") }
}
