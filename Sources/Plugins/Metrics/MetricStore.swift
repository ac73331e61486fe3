#if Metrics
import Metrics
import Synchronization

/// A metric: its name and its labels.
struct MetricSeries: Hashable, Sendable {
    /// The names of the plugin's metrics, without the prefix.
    enum Name: String {
        case calls
        case callDuration = "call.duration"
        case activeCalls = "calls.active"
        case joinedCalls = "calls.joined"
        case unsentCalls = "calls.unsent"
        case cachedCalls = "calls.cached"
        case exchanges
        case exchangeDuration = "exchange.duration"
        case activeExchanges = "exchanges.active"
        case connectionWait = "connection.wait"
        case retries
        case redirects
        case sentBytes = "sent.bytes"
        case receivedBytes = "received.bytes"
    }

    struct Label: Hashable, Sendable {
        let name: String
        var value: String
    }

    let name: Name
    var labels: [Label]

    /// The series that counts values for which no series is left.
    var overflow: MetricSeries {
        var copy = self
        for index in copy.labels.indices { copy.labels[index].value = MetricLabels.other }
        return copy
    }
}

/// The metric objects in use; copies of a plugin share them.
final class MetricStore: Sendable {
    private struct State {
        var counters: [MetricSeries: Counter] = [:]
        var timers: [MetricSeries: Timer] = [:]
        var meters: [MetricSeries: Meter] = [:]
        var hosts: BoundedNames

        var count: Int { counters.count + timers.count + meters.count }
    }

    private let prefix: String
    private let factory: (any MetricsFactory)?
    private let maximumCount: Int
    private let state: Mutex<State>

    init(prefix: String, factory: (any MetricsFactory)?, maximumCount: Int, maximumHostCount: Int) {
        self.prefix = prefix
        self.factory = factory
        self.maximumCount = maximumCount
        state = Mutex(State(hosts: BoundedNames(maximumCount: maximumHostCount)))
    }

    func host(_ name: String) -> String {
        state.withLock { $0.hosts.bounded(name) }
    }

    func add(_ amount: Int = 1, to name: MetricSeries.Name, _ labels: [MetricSeries.Label]) {
        let counter = find(MetricSeries(name: name, labels: labels), in: \.counters) {
            Counter(label: $0, dimensions: $1, factory: $2)
        }
        counter.increment(by: amount)
    }

    func record(_ duration: Duration, in name: MetricSeries.Name, _ labels: [MetricSeries.Label]) {
        let timer = find(MetricSeries(name: name, labels: labels), in: \.timers) {
            Timer(label: $0, dimensions: $1, factory: $2)
        }
        timer.recordNanoseconds(duration.nanoseconds)
    }

    func begin(_ name: MetricSeries.Name) {
        meter(name).increment()
    }

    func end(_ name: MetricSeries.Name) {
        meter(name).decrement()
    }

    private func meter(_ name: MetricSeries.Name) -> Meter {
        find(MetricSeries(name: name, labels: []), in: \.meters) {
            Meter(label: $0, dimensions: $1, factory: $2)
        }
    }

    /// Returns the metric of a series, and makes it if there is none.
    ///
    /// A factory is foreign code, so it runs outside the lock.
    private func find<Metric: Sendable>(
        _ series: MetricSeries,
        in path: WritableKeyPath<State, [MetricSeries: Metric]>,
        _ make: (String, [(String, String)], any MetricsFactory) -> Metric
    ) -> Metric {
        var series = series
        while true {
            let (allowed, known) = state.withLock { state in
                let all = state[keyPath: path]
                let allowed = all[series] == nil && state.count >= maximumCount ? series.overflow : series
                return (allowed, all[allowed])
            }
            if let known { return known }
            let made = make(
                prefix + allowed.name.rawValue,
                allowed.labels.map { ($0.name, $0.value) },
                factory ?? MetricsSystem.factory
            )
            let kept = state.withLock { state -> Metric? in
                if let other = state[keyPath: path][allowed] { return other }
                guard state.count < maximumCount || allowed == allowed.overflow else { return nil }
                state[keyPath: path][allowed] = made
                return made
            }
            if let kept { return kept }
            series = allowed.overflow
        }
    }
}
#endif
