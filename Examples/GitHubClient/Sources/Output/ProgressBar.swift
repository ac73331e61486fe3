import Foundation
import Pipeline

/// A line on the terminal that shows how much of a file has arrived.
struct ProgressBar {
    private static let width = 30
    private let printer: Printer
    private var shown = ""

    init(_ printer: Printer) { self.printer = printer }

    /// Replaces the line if its text has changed; prints nothing unless standard error is a terminal.
    mutating func show(_ step: ProgressResponse) {
        let text = Self.text(step)
        guard printer.isTerminal, text != shown else { return }
        shown = text
        printer.error("\r\u{1B}[K\(text)")
    }

    /// Ends the line, so that the next output begins below it.
    func end() {
        if !shown.isEmpty { printer.error("\n") }
    }

    static func text(_ step: ProgressResponse) -> String {
        let filled = Int(step.progress * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        let percentage = Int(step.progress * 100)
        let padding = String(repeating: " ", count: 3 - String(percentage).count)
        var parts = ["[\(bar)] \(padding)\(percentage) %", byteText(step.transfer.byteCount)]
        if let speed = step.bytesPerSecond { parts.append("\(byteText(Int(speed)))/s") }
        if let rest = step.timeLeft, rest >= .seconds(1) { parts.append("\(rest.components.seconds) s left") }
        return parts.joined(separator: "  ")
    }

    static func byteText(_ count: Int) -> String {
        switch count {
        case ..<1_000: "\(count) bytes"
        case ..<1_000_000: "\(count / 1_000) kB"
        default: "\(count / 1_000_000).\(count / 100_000 % 10) MB"
        }
    }
}
