#if Metrics
import Metrics
import MetricsTestKit

extension TestMetrics {
    private static func name(_ label: String, _ dimensions: [(String, String)]) -> String {
        dimensions.isEmpty ? label : label + " " + dimensions.map { "\($0.0)=\($0.1)" }.joined(separator: " ")
    }

    /// The totals of all counters by name and labels, with the labels in the plugin's order.
    var totals: [String: Int64] {
        Dictionary(counters.map { (Self.name($0.label, $0.dimensions), $0.totalValue) }) { $0 + $1 }
    }

    /// The values recorded by all timers.
    var durations: [String: [Int64]] {
        Dictionary(timers.map { (Self.name($0.label, $0.dimensions), $0.values) }) { $0 + $1 }
    }

    /// The values of all meters, in order.
    var levels: [String: [Double]] {
        Dictionary(meters.map { (Self.name($0.label, $0.dimensions), $0.values) }) { $0 + $1 }
    }

    /// All text that a backend would show.
    var texts: String {
        (totals.keys.sorted() + durations.keys.sorted() + levels.keys.sorted()).joined(separator: "\n")
    }

    var count: Int { counters.count + timers.count + meters.count + recorders.count }
}
#endif
