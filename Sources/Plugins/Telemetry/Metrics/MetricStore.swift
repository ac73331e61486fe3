#if Telemetry
import Metrics
import Synchronization

/// The metric objects in use; copies of a plugin share them.
final class MetricStore: Sendable {
    private struct State {
        var counters: [MetricSeries: Counter] = [:]
        var timers: [MetricSeries: Timer] = [:]
        var meters: [MetricSeries: Meter] = [:]
        var recorders: [MetricSeries: Recorder] = [:]
        var servers: BoundedServers

        var count: Int { counters.count + timers.count + meters.count + recorders.count }
    }

    private let prefix: String
    private let factory: (any MetricsFactory)?
    private let maximumCount: Int
    private let state: Mutex<State>

    init(prefix: String, factory: (any MetricsFactory)?, maximumCount: Int, maximumHostCount: Int) {
        self.prefix = prefix
        self.factory = factory
        self.maximumCount = maximumCount
        state = Mutex(State(servers: BoundedServers(maximumCount: maximumHostCount)))
    }

    func bounded(_ server: ObservedServer) -> ObservedServer {
        state.withLock { $0.servers.bounded(server) }
    }

    func count(_ name: MetricSeries.Name, _ attributes: MetricAttributes) {
        let counter = find(MetricSeries(name: name, attributes: attributes), in: \.counters) {
            Counter(label: $0, dimensions: $1, factory: $2)
        }
        counter.increment()
    }

    func time(_ duration: Duration, in name: MetricSeries.Name, _ attributes: MetricAttributes) {
        let timer = find(MetricSeries(name: name, attributes: attributes), in: \.timers) {
            Timer(label: $0, dimensions: $1, factory: $2)
        }
        timer.recordNanoseconds(duration.nanoseconds)
    }

    func record(_ value: Double, in name: MetricSeries.Name, _ attributes: MetricAttributes) {
        let recorder = find(MetricSeries(name: name, attributes: attributes), in: \.recorders) {
            Recorder(label: $0, dimensions: $1, aggregate: true, factory: $2)
        }
        recorder.record(value)
    }

    func begin(_ name: MetricSeries.Name, _ attributes: MetricAttributes) {
        meter(name, attributes).increment()
    }

    func end(_ name: MetricSeries.Name, _ attributes: MetricAttributes) {
        meter(name, attributes).decrement()
    }

    private func meter(_ name: MetricSeries.Name, _ attributes: MetricAttributes) -> Meter {
        find(MetricSeries(name: name, attributes: attributes), in: \.meters) {
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
                if let known = all[series] { return (series, Metric?.some(known)) }
                let allowed = state.count >= maximumCount ? series.overflow : series
                return (allowed, all[allowed])
            }
            if let known { return known }
            let made = make(
                allowed.name.isStandard ? allowed.name.rawValue : prefix + allowed.name.rawValue,
                allowed.dimensions,
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
