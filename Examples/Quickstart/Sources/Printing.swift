import Foundation
import Pipeline
import Synchronization

/// A text style for terminals.
enum Style: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"

    /// Whether the output is a terminal and `NO_COLOR` is not set; see https://no-color.org.
    static let isOn = isatty(STDOUT_FILENO) == 1 && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
}

/// Returns the text in a style, or unchanged if styles are off.
func styled(_ text: String, _ style: Style) -> String {
    Style.isOn ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
}

/// Whether the current task prints what it does.
enum Detail {
    @TaskLocal static var isShown = true
    /// The number of parts that ran without printing what they did.
    static let hiddenPartCount = Mutex(0)
}

/// Prints a line, unless the current task prints nothing.
func say(_ line: String) {
    if Detail.isShown { print(line) }
}

/// Begins a part with a heading.
func heading(_ text: String) {
    guard Detail.isShown else { return Detail.hiddenPartCount.withLock { $0 += 1 } }
    print("\n" + styled(text, .bold) + "\n" + styled(String(repeating: "─", count: text.count), .dim))
}

/// Prints a name and a value, with all values in one column.
func show(_ name: String, _ value: String) {
    say("  " + padded(name, to: 14) + value)
}

/// Prints a dimmed line of `LoggingPlugin`, with the embedded server's URLs shortened to paths.
@Sendable
func printLog(_ level: LoggingPlugin.Level, _ line: String) {
    say(styled("  · " + line.replacing(/http:\/\/127\.0\.0\.1:\d+/, with: ""), .dim))
}

/// Prints a line for each exchange: its request, status, start and duration.
func show(_ exchanges: [PipelineExchange]) {
    for exchange in exchanges {
        let request = "\(exchange.request.method) \(exchange.request.path)"
        let status = exchange.statusCode.map(String.init) ?? "none"
        let (start, duration) = (PipelineError.text(of: exchange.start), PipelineError.text(of: exchange.duration))
        let times = "started at \(start), took \(duration)"
        let style: Style =
            switch exchange.statusCode ?? 0 {
            case 200..<300: .green
            case 300..<400: .yellow
            default: .red
            }
        say("  " + padded(request, to: 38) + styled(padded(status, to: 6), style) + styled(times, .dim))
    }
}

/// Prints a cURL command with one option per line.
func showCommand(_ command: String) {
    let options = ["-H", "--data-raw"]
    say("  " + options.reduce(command) { $0.replacing(" \($1) ", with: " \\\n    \($1) ") })
}

func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
}

/// The lines of a `LoggingPlugin`, kept for later checks.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }
    var text: String { all.joined(separator: "\n") }

    func keep(_ line: String) {
        lines.withLock { $0.append(line) }
    }
}
