#if Telemetry
import Metrics
import Synchronization

/// The metric objects in use; copies of a plugin share them.
final class MetricStore: Sendable {
    private struct State {
        /// The objects; the name of a series determines the type.
        var metrics: [MetricSeries: any AnyObject & Sendable] = [:]
        /// The servers that have a name of their own.
        var servers: Set<ObservedServer> = []
    }

    private let prefix: String
    private let factory: (any MetricsFactory)?
    private let maximumCount: Int
    private let maximumHostCount: Int
    private let state = Mutex(State())

    init(prefix: String, factory: (any MetricsFactory)?, maximumCount: Int, maximumHostCount: Int) {
        self.prefix = prefix
        self.factory = factory
        self.maximumCount = maximumCount
        self.maximumHostCount = maximumHostCount
    }

    /// Returns the server if it is among the first ones, otherwise one name for all others.
    func bounded(_ server: ObservedServer) -> ObservedServer {
        state.withLock { state in
            if state.servers.contains(server) { return server }
            guard state.servers.count < maximumHostCount else { return ObservedServer(address: "_OTHER", port: 0) }
            state.servers.insert(server)
            return server
        }
    }

    func count(_ name: MetricSeries.Name, _ attributes: MetricAttributes) {
        find(name, attributes) { Counter(label: $0, dimensions: $1, factory: $2) }.increment()
    }

    func time(_ duration: Duration, in name: MetricSeries.Name, _ attributes: MetricAttributes) {
        find(name, attributes) { Timer(label: $0, dimensions: $1, factory: $2) }
            .recordNanoseconds(duration.nanoseconds)
    }

    func record(_ value: Double, in name: MetricSeries.Name, _ attributes: MetricAttributes) {
        find(name, attributes) { Recorder(label: $0, dimensions: $1, aggregate: true, factory: $2) }.record(value)
    }

    func begin(_ name: MetricSeries.Name, _ attributes: MetricAttributes) {
        meter(name, attributes).increment()
    }

    func end(_ name: MetricSeries.Name, _ attributes: MetricAttributes) {
        meter(name, attributes).decrement()
    }

    private func meter(_ name: MetricSeries.Name, _ attributes: MetricAttributes) -> Meter {
        find(name, attributes) { Meter(label: $0, dimensions: $1, factory: $2) }
    }

    /// Returns the metric of a series, and makes it if there is none.
    ///
    /// A factory is foreign code, so it runs outside the lock.
    private func find<Metric: AnyObject & Sendable>(
        _ name: MetricSeries.Name,
        _ attributes: MetricAttributes,
        _ make: (String, [(String, String)], any MetricsFactory) -> Metric
    ) -> Metric {
        var series = MetricSeries(name: name, attributes: attributes)
        while true {
            let known = state.withLock { state in
                if state.metrics[series] == nil, state.metrics.count >= maximumCount { series = series.overflow }
                return state.metrics[series]
            }
            if let known = known as? Metric { return known }
            let label = name.isStandard ? name.rawValue : prefix + name.rawValue
            let made = make(label, series.dimensions, factory ?? MetricsSystem.factory)
            let kept = state.withLock { state in
                if state.metrics[series] == nil, state.metrics.count < maximumCount || series == series.overflow {
                    state.metrics[series] = made
                }
                return state.metrics[series]
            }
            if let kept = kept as? Metric { return kept }
            series = series.overflow
        }
    }
}
#endif
