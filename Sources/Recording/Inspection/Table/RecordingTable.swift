import Foundation
import HTTPTypes
package import Pipeline

/// A recording as people read it: a line for each entry, and a waterfall of their times.
package struct RecordingTable {
    private let entries: [RecordedEntry]
    private let redactor: Redactor

    /// - Parameters:
    ///   - entries: what to show.
    ///   - redactor: says what of it is shown.
    package init(_ entries: [RecordedEntry], redactor: Redactor = .standard) {
        self.entries = entries
        self.redactor = redactor
    }

    /// The lines of the table.
    ///
    /// - Parameter width: of the terminal, in characters; URLs that are too long for it are cut, to 20 at the least.
    /// - Returns: a line for each entry, also for those that cannot be read; for those the reasons at the end.
    package func lines(width: Int = 120) -> [String] {
        let rows = entries.map(row)
        var fixed = TextTable([.right, .left, .right, .left, .right, .right])
        for row in [Self.head] + rows { fixed.append([row[0], row[1], row[3], row[4], row[5], row[6]]) }
        let urlWidth = max(20, width - fixed.widths.reduce(0, +) - 2 * 6)
        var table = TextTable([.right, .left, .left, .right, .left, .right, .right])
        for var row in [Self.head] + rows {
            row[2] = Self.cut(row[2], to: urlWidth)
            table.append(row)
        }
        return table.lines + problems
    }

    /// The entries that cannot be read, a line each.
    package var problems: [String] {
        entries.compactMap { entry in
            guard case .failure(let error) = entry.result else { return nil }
            return "entry \(entry.index) cannot be read: \(redactor.text("\(error)"))"
        }
    }

    // MARK: Rows

    private static let head = ["#", "method", "URL", "status", "type", "size", "time"]

    private func row(of entry: RecordedEntry) -> [String] {
        let number = "\(entry.index)"
        guard case .success(let exchange) = entry.result else { return [number, "?", "?", "?", "", "", ""] }
        let response = exchange.response
        let type = response?.headers[.contentType]?.prefix { $0 != ";" }
        return [
            number,
            Self.visible(exchange.request.method),
            redactor.url(exchange.request.url),
            Self.status(of: exchange),
            Self.cut(Self.visible(redactor.text(String(type ?? ""))), to: 32),
            response.map { Self.size($0.body.count) } ?? "",
            Self.time(exchange.duration),
        ]
    }

    private static func status(of exchange: RecordedExchange) -> String {
        let status = exchange.response.map { "\($0.status)" }
        let failure = exchange.failure.map { visible($0.code) }
        return [status, failure].compactMap { $0 }.joined(separator: " ")
    }

    /// A number of bytes with a unit of 3 letters at most.
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

    /// A text without what could move a terminal's cursor.
    static func visible(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter { $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) }
            )
        )
    }
}
