import Metrics
import Synchronization

/// Metrics in memory, for `GET /metrics`: counters, gauges, and summaries without quantiles.
///
/// swift-prometheus also has histograms. Source: https://prometheus.io/docs/instrumenting/exposition_formats/
final class PrometheusMetrics: MetricsFactory {
    /// The values of one name and list of labels: the sum and, for a summary, their number.
    private final class Series: CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
        private let state = Mutex((count: 0, sum: 0.0))

        var value: (count: Int, sum: Double) { state.withLock { $0 } }

        func increment(by amount: Int64) { record(Double(amount)) }
        func increment(by amount: Double) { record(amount) }
        func decrement(by amount: Double) { record(-amount) }
        func record(_ value: Int64) { record(Double(value)) }
        func record(_ value: Double) { state.withLock { $0 = ($0.count + 1, $0.sum + value) } }
        func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
        func set(_ value: Int64) { set(Double(value)) }
        func set(_ value: Double) { state.withLock { $0.sum = value } }
        func reset() { set(0.0) }
    }

    private let families = Mutex<[String: (type: String, series: [String: Series])]>([:])

    /// All metrics in the text format of Prometheus, in a stable order.
    var text: String {
        families.withLock { $0 }.sorted { $0.key < $1.key }
            .map { name, family in
                let lines = family.series.sorted { $0.key < $1.key }
                    .map { labels, series in
                        let value = series.value
                        guard family.type == "summary" else { return "\(name)\(labels) \(value.sum)\n" }
                        return "\(name)_sum\(labels) \(value.sum)\n\(name)_count\(labels) \(value.count)\n"
                    }
                return "# TYPE \(name) \(family.type)\n" + lines.joined()
            }
            .joined()
    }

    private func series(_ type: String, _ label: String, _ dimensions: [(String, String)]) -> Series {
        let labels = dimensions.map { "\(Self.name($0))=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        return families.withLock { families in
            let text = labels.isEmpty ? "" : "{\(labels)}"
            let name = Self.name(label) + (type == "counter" ? "_total" : "")
            let series = families[name]?.series[text] ?? Series()
            families[name, default: (type, [:])].series[text] = series
            return series
        }
    }

    private static func name(_ text: String) -> String {
        String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    private static func escaped(_ text: String) -> String {
        text.map { ["\\": "\\\\", "\"": "\\\"", "\n": "\\n"][$0] ?? String($0) }.joined()
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series("counter", label, dimensions)
    }
    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series("gauge", label, dimensions)
    }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        series("summary", label, dimensions)
    }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series("summary", label, dimensions)
    }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
