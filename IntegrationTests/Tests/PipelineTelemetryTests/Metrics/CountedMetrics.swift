import Metrics
import MetricsTestKit

extension TestMetrics {
    /// A short name of a series, such as `pipeline.calls GET a.test:443 status=404 error=404`.
    ///
    /// It leaves out `url.scheme`.
    private static func name(_ label: String, _ dimensions: [(String, String)]) -> String {
        var values = Dictionary(dimensions) { $1 }
        values["url.scheme"] = nil
        var name = label
        if let method = values.removeValue(forKey: "http.request.method") { name += " " + method }
        if let address = values.removeValue(forKey: "server.address") { name += " " + address }
        if let port = values.removeValue(forKey: "server.port") { name += ":" + port }
        if let status = values.removeValue(forKey: "http.response.status_code") { name += " status=" + status }
        if let error = values.removeValue(forKey: "error.type") { name += " error=" + error }
        for (key, value) in values.sorted(by: { $0.key < $1.key }) { name += " \(key)=\(value)" }
        return name
    }

    /// The totals of all counters.
    var totals: [String: Int64] {
        Dictionary(counters.map { (Self.name($0.label, $0.dimensions), $0.totalValue) }) { $0 + $1 }
    }

    /// The values recorded by all timers.
    var durations: [String: [Int64]] {
        Dictionary(timers.map { (Self.name($0.label, $0.dimensions), $0.values) }) { $0 + $1 }
    }

    /// The values recorded by all histograms, with names without `http.client.`.
    var histograms: [String: [Double]] {
        let named = recorders.filter(\.aggregate).map { (Self.name($0.label, $0.dimensions), $0.values) }
        return Dictionary(named.map { ($0.replacing("http.client.", with: ""), $1) }) { $0 + $1 }
    }

    /// How many exchanges have ended, by attributes.
    var exchanges: [String: Int] {
        let name = "request.duration "
        return Dictionary(
            uniqueKeysWithValues: histograms.compactMap { key, values in
                key.hasPrefix(name) ? (String(key.dropFirst(name.count)), values.count) : nil
            }
        )
    }

    /// The sizes of all bodies.
    var sizes: [String: [Double]] { histograms.filter { $0.key.contains("body.size") } }

    /// The values of all meters, in order.
    var levels: [String: [Double]] {
        Dictionary(meters.map { (Self.name($0.label, $0.dimensions), $0.values) }) { $0 + $1 }
    }

    /// The names and attributes of all metrics.
    var series: [(name: String, dimensions: [(String, String)])] {
        counters.map { ($0.label, $0.dimensions) } + timers.map { ($0.label, $0.dimensions) }
            + meters.map { ($0.label, $0.dimensions) } + recorders.map { ($0.label, $0.dimensions) }
    }

    /// All text that a backend would show.
    var texts: String { series.map { "\($0.name) \($0.dimensions)" }.sorted().joined(separator: "\n") }

    /// Returns the values of an attribute in all metrics.
    func values(of attribute: String) -> Set<String> {
        Set(series.flatMap(\.dimensions).filter { $0.0 == attribute }.map(\.1))
    }
}
