import Foundation

/// The times of a recording as bars on one axis.
///
/// A bar begins when the request was sent. `░` is the time until the header fields arrived, `█` the time from then to
/// the end.
struct RecordingWaterfall {
    private struct Bar {
        let index: Int
        let start: TimeInterval
        let head: TimeInterval
        let end: TimeInterval
    }

    private let bars: [Bar]
    private let length: TimeInterval

    /// Uses the entries that can be read and have a start.
    init(_ entries: [RecordedEntry]) {
        let timed = entries.compactMap { entry -> (index: Int, exchange: RecordedExchange, start: Date)? in
            guard case .success(let exchange) = entry.result, let start = exchange.start else { return nil }
            return (entry.index, exchange, start)
        }
        let first = timed.map(\.start).min() ?? Date(timeIntervalSince1970: 0)
        bars = timed.map { item in
            let start = item.start.timeIntervalSince(first)
            let duration = max(0, item.exchange.duration / .seconds(1))
            let head = min(max(0, item.exchange.headDelay / .seconds(1)), duration)
            return Bar(index: item.index, start: start, head: start + head, end: start + duration)
        }
        length = bars.map(\.end).max() ?? 0
    }

    /// Returns the lines to print.
    ///
    /// - Parameter width: the width of the terminal, in characters.
    /// - Returns: the axis, then a line for each entry; empty if no entry has a start.
    func lines(width: Int = 120) -> [String] {
        guard !bars.isEmpty else { return [] }
        let label = max(1, bars.map { "\($0.index)".count }.max() ?? 1)
        let columns = max(10, width - label - 3)
        let total = RecordingTable.time(.seconds(length))
        let axis = "0" + String(repeating: " ", count: max(1, columns - 1 - total.count)) + total
        return [String(repeating: " ", count: label + 2) + axis]
            + bars.map { bar in
                let number = "\(bar.index)"
                return String(repeating: " ", count: label - number.count) + number + "  " + text(of: bar, columns)
            }
    }

    private func text(of bar: Bar, _ columns: Int) -> String {
        func column(_ time: TimeInterval) -> Int {
            length > 0 ? min(columns, Int((time / length * Double(columns)).rounded())) : 0
        }
        let start = min(column(bar.start), columns - 1)
        let end = max(column(bar.end), start + 1)
        let head = bar.head > bar.start ? min(max(start, column(bar.head)), end) : start
        return String(repeating: " ", count: start) + String(repeating: "░", count: head - start)
            + String(repeating: "█", count: end - head)
    }
}
