package import Metrics
import Synchronization

/// A factory that checks the metrics of `MetricsPlugin` when they are made, and their values when they are recorded.
package final class CheckedMetrics: MetricsFactory {
    private struct State {
        var violations: [String] = []
        var levels: [String: Double] = [:]
        var seriesCount = 0
    }

    private let knownMethods: Set<String>
    private let state = Mutex(State())

    /// Creates a factory.
    ///
    /// - Parameter knownMethods: the methods that the plugin knows.
    package init(knownMethods: Set<String> = Convention.methods) {
        self.knownMethods = knownMethods
    }

    /// The violations so far.
    package var violations: [String] { state.withLock { $0.violations } }

    /// The number of series that were made.
    package var seriesCount: Int { state.withLock { $0.seriesCount } }

    /// The series of meters that are not zero.
    package var unbalanced: [String] {
        state.withLock { $0.levels.filter { $0.value != 0 }.map { "\($0.key) is \($0.value)" } }
    }

    private func add(_ violations: [String], _ series: String) {
        guard !violations.isEmpty else { return }
        state.withLock { $0.violations += violations.map { "\($0): \(series)" } }
    }

    private func check(_ name: String, _ kind: String, _ dimensions: [(String, String)]) -> Handler {
        let series = "\(name) " + dimensions.map { "\($0)=\($1)" }.joined(separator: " ")
        state.withLock { $0.seriesCount += 1 }
        var values: [String: Convention.Value] = [:]
        var found: [String] = []
        for (key, text) in dimensions {
            if values[key] != nil { found.append("\(key) occurs twice") }
            if Convention.types[key] == "int" {
                values[key] = Int64(text).map { .int($0) } ?? .string(text)
            } else {
                values[key] = .string(text)
            }
        }
        // The attributes of values beyond a limit, https://opentelemetry.io/docs/specs/otel/metrics/sdk/
        let isOverflow = dimensions.count == 1 && dimensions[0] == ("otel.metric.overflow", "true")
        if let convention = Convention.signals[name] {
            if convention.kind != kind { found.append("the kind is \(kind), not \(convention.kind)") }
            if !isOverflow { found += convention.violations(values, knownMethods: knownMethods) }
        } else if !name.hasPrefix("pipeline.") {
            found.append("the name is not standard")
        } else if !isOverflow {
            found += own(values)
        }
        add(found, series)
        return Handler(series: series, name: name, owner: self)
    }

    /// Returns the violations of a metric that the conventions do not define.
    private func own(_ values: [String: Convention.Value]) -> [String] {
        values.compactMap { name, value in
            if name.hasPrefix("pipeline.") { return nil }
            guard let type = Convention.types[name] else { return "\(name) is not standard" }
            if type != value.type { return "\(name) is \(value.type), not \(type)" }
            return Convention.fault(of: name, value.text, knownMethods).map { "\(name) is \(value.text), \($0)" }
        }
    }

    fileprivate func record(_ value: Double, _ handler: Handler) {
        let isDuration = handler.name == "http.client.request.duration"
        // A value above ten minutes is in a wrong unit.
        if value < 0 || (isDuration && value > 600) { add(["the value is \(value)"], handler.series) }
    }

    fileprivate func change(_ amount: Double, _ handler: Handler) {
        state.withLock { $0.levels[handler.series, default: 0] += amount }
    }

    /// Checks a counter.
    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        check(label, "counter", dimensions)
    }

    /// Checks a histogram.
    package func makeRecorder(
        label: String,
        dimensions: [(String, String)],
        aggregate: Bool
    ) -> any RecorderHandler {
        check(label, aggregate ? "histogram" : "gauge", dimensions)
    }

    /// Checks a meter, with which swift-metrics counts up and down.
    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        check(label, "updowncounter", dimensions)
    }

    /// Checks a timer.
    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        check(label, "timer", dimensions)
    }

    /// Does nothing.
    package func destroyCounter(_ handler: any CounterHandler) {}
    /// Does nothing.
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    /// Does nothing.
    package func destroyMeter(_ handler: any MeterHandler) {}
    /// Does nothing.
    package func destroyTimer(_ handler: any TimerHandler) {}
}

private final class Handler: CounterHandler, RecorderHandler, MeterHandler, TimerHandler {
    let series: String
    let name: String
    private let owner: CheckedMetrics

    init(series: String, name: String, owner: CheckedMetrics) {
        self.series = series
        self.name = name
        self.owner = owner
    }

    func increment(by amount: Int64) { owner.record(Double(amount), self) }
    func reset() {}
    func record(_ value: Int64) { owner.record(Double(value), self) }
    func record(_ value: Double) { owner.record(value, self) }
    func set(_ value: Int64) {}
    func set(_ value: Double) {}
    func increment(by amount: Double) { owner.change(amount, self) }
    func decrement(by amount: Double) { owner.change(-amount, self) }
    func recordNanoseconds(_ duration: Int64) { owner.record(Double(duration), self) }
}
