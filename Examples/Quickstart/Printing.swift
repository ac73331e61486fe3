import Pipeline
import PipelinePlugins
import Synchronization

/// Prints a heading.
func heading(_ text: String) {
    print("\n" + text + "\n" + String(repeating: "─", count: text.count))
}

/// Prints a name and a value, the values in one column.
func show(_ name: String, _ value: String) {
    print("  " + padded(name, to: 14) + value)
}

/// Prints the lines of `LoggingPlugin`, apart from the results.
@Sendable
func printLog(_ level: LoggingPlugin.Level, _ line: String) {
    print("  · " + line)
}

/// One line for each exchange: what was asked and answered, when it began and how long it took.
func show(_ exchanges: [PipelineExchange]) {
    for exchange in exchanges {
        let request = "\(exchange.request.method) \(exchange.request.path)"
        let status = exchange.statusCode.map(String.init) ?? "none"
        let times = "began at \(milliseconds(exchange.start)), took \(milliseconds(exchange.duration))"
        print("  " + padded(request, to: 38) + padded(status, to: 6) + times)
    }
}

/// Prints a cURL command, one option to a line.
func showCommand(_ command: String) {
    let options = ["-H", "--data-raw"]
    print("  " + options.reduce(command) { $0.replacing(" \($1) ", with: " \\\n    \($1) ") })
}

func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
}

/// A duration with two decimals.
func milliseconds(_ duration: Duration) -> String {
    let hundredths = Int(duration / .microseconds(10))
    let decimals = String(hundredths % 100)
    return "\(hundredths / 100)." + String(repeating: "0", count: 2 - decimals.count) + decimals + " ms"
}

/// Lines of `LoggingPlugin`, to look at them again.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    func print(_ line: String) {
        printLog(.info, line)
        keep(line)
    }

    func keep(_ line: String) {
        lines.withLock { $0.append(line) }
    }
}
