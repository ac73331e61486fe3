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
        let rows = [head] + entries.map(row)
        var widths = head.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        widths[2] = min(widths[2], max(20, width - widths.reduce(0, +) + widths[2] - 2 * (head.count - 1)))
        var lines = [Self.line(head, widths)]
        for (entry, row) in zip(entries, rows.dropFirst()) {
            lines.append(Self.line(row, widths, isColored ? Self.style(of: entry) : nil))
        }
        if isColored { lines[0] = TerminalStyle.bold.applied(to: lines[0]) }
        return lines + problems
    }

    /// Returns a line without trailing blanks; `style` is that of the status.
    private static func line(_ row: [String], _ widths: [Int], _ style: TerminalStyle? = nil) -> String {
        let last = row.lastIndex { !$0.isEmpty } ?? 0
        let cells = row.indices.prefix(last + 1).map { column in
            let text = cut(row[column], to: widths[column])
            let padding = String(repeating: " ", count: widths[column] - text.count)
            let shown = column == 3 ? style?.applied(to: text) ?? text : text
            let isRight = [0, 3, 5, 6].contains(column)
            return isRight ? padding + shown : column == last ? shown : shown + padding
        }
        return cells.joined(separator: "  ")
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

/// A style of text on a terminal; the raw value is the parameter of the escape sequence.
///
/// Source: ECMA-48 §8.3.117, https://ecma-international.org/publications-and-standards/standards/ecma-48/
enum TerminalStyle: Int {
    case bold = 1
    case red = 31
    case green = 32
    case yellow = 33
    case cyan = 36

    /// Returns the style of a status code.
    ///
    /// The style of a failure is red.
    static func of(status: Int?) -> TerminalStyle {
        switch status ?? 0 {
        case 100..<300: .green
        case 300..<400: .cyan
        case 400..<500: .yellow
        default: .red
        }
    }

    /// Returns the text between the sequences that turn the style on and off.
    func applied(to text: String) -> String { "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" }
}
