import Foundation
import Metrics
import MetricsTestKit
import Pipeline
import PipelineAPI
import PipelineTelemetry
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// A factory that runs an action once, the next time a metric is made.
private final class CallingFactory: MetricsFactory {
    private let inner: TestMetrics
    private let action = Mutex<(@Sendable () -> Void)?>(nil)

    init(inner: TestMetrics) {
        self.inner = inner
    }

    func onMake(_ action: @escaping @Sendable () -> Void) {
        self.action.withLock { $0 = action }
    }

    private func act() {
        let action = action.withLock { $0.take() }
        action?()
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        act()
        return inner.makeCounter(label: label, dimensions: dimensions)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        inner.makeRecorder(label: label, dimensions: dimensions, aggregate: aggregate)
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        act()
        return inner.makeMeter(label: label, dimensions: dimensions)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        act()
        return inner.makeTimer(label: label, dimensions: dimensions)
    }

    func destroyCounter(_ handler: any CounterHandler) { inner.destroyCounter(handler) }
    func destroyRecorder(_ handler: any RecorderHandler) { inner.destroyRecorder(handler) }
    func destroyMeter(_ handler: any MeterHandler) { inner.destroyMeter(handler) }
    func destroyTimer(_ handler: any TimerHandler) { inner.destroyTimer(handler) }
}

@Suite("MetricsPlugin: metric objects", .tags(.concurrent), .watched)
struct MetricStoreTests {
    private let metrics = TestMetrics()

    private func send(_ asks: [Ask], _ plugin: MetricsPlugin, _ step: ScriptedTransport.Step = .status(200)) async {
        let provider = Provider<Ask>(transport: ScriptedTransport(always: step), plugins: [plugin])
        for ask in asks { _ = try? await provider.request(ask) }
    }

    @Test("Copies of a plugin share their metrics, and each metric is made once")
    func sharing() async {
        let plugin = MetricsPlugin(factory: metrics)
        await send([Ask(), Ask()], plugin)
        await send([Ask()], plugin)
        #expect(metrics.series.count == 5)
        #expect(metrics.counterTotal(label: "pipeline.calls") == 3)
    }

    @Test("Metric objects are limited; further values have only otel.metric.overflow", arguments: [1, 10])
    func bound(maximumCount: Int) async {
        let plugin = MetricsPlugin(maximumHostCount: 1_000, maximumSeriesCount: maximumCount, factory: metrics)
        await send((0..<200).map { Ask(url: "https://h\($0).test") }, plugin)
        #expect(metrics.series.count <= maximumCount + 13)
        #expect(metrics.totals["pipeline.calls otel.metric.overflow=true"] ?? 0 > 190)
        #expect(metrics.counterTotal(label: "pipeline.calls") == 200)
        #expect(metrics.exchanges.values.reduce(0, +) == 200)
        #expect(metrics.durations.values.joined().count == 200)
        #expect(metrics.levels.values.allSatisfy { $0.last == 0 })
    }

    @Test("The limit holds for concurrent calls, and none is lost")
    func concurrentBound() async {
        let plugin = MetricsPlugin(maximumHostCount: 1_000, maximumSeriesCount: 40, factory: metrics)
        let provider = Provider<Ask>(transport: ScriptedTransport(always: .status(200)), plugins: [plugin])
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask { _ = try? await provider.request(Ask(url: "https://h\(number).test")) }
            }
        }
        // Objects that lose the race for the last place are made, but not used.
        #expect(metrics.series.count <= 70)
        #expect(metrics.counterTotal(label: "pipeline.calls") == 300)
        #expect(metrics.exchanges.values.reduce(0, +) == 300)
        #expect(metrics.levels.values.allSatisfy { $0.last ?? 0 == 0 })
        #expect(metrics.levels.values.joined().count == 1_200)
    }

    @Test("The limit holds if the last place is taken while a metric is made")
    func boundWhileMaking() async throws {
        let factory = CallingFactory(inner: metrics)
        let plugin = MetricsPlugin(maximumSeriesCount: 2, factory: factory)
        let observe = PluginStack.prepare { request, context in
            func request(_ host: String) throws -> PipelineRequest {
                try PipelineRequest(.post, url: "https://\(host)/")
            }
            plugin.willSend(try request("a.test"), context: context)
            let other = try request("b.test")
            factory.onMake { plugin.willSend(other, context: context) }
            plugin.willSend(try request("c.test"), context: context)
        }
        let provider = Provider<Ask>(transport: ScriptedTransport(always: .status(200)), plugins: [observe])
        _ = try await provider.request(Ask())
        #expect(metrics.levels["http.client.active_requests POST a.test:443"] == [1])
        #expect(metrics.levels["http.client.active_requests POST b.test:443"] == [1])
        #expect(metrics.levels["http.client.active_requests POST c.test:443"] == [])
        #expect(metrics.levels["http.client.active_requests otel.metric.overflow=true"] == [1])
    }

    @Test("P04 A factory can call back into the plugin while it makes a metric, because no lock is held")
    func reentrancy() async throws {
        let factory = CallingFactory(inner: metrics)
        let plugin = MetricsPlugin(factory: factory)
        let enter = PluginStack.prepare { request, context in
            let request = request
            factory.onMake { plugin.willSend(request, context: context) }
        }
        let provider = Provider<Ask>(transport: ScriptedTransport(always: .status(200)), plugins: [enter, plugin])
        _ = try await provider.request(Ask())
        #expect(metrics.levels["http.client.active_requests GET a.test:443"] == [1, 2, 1])
        #expect(metrics.counterTotal(label: "pipeline.calls") == 1)
    }

    @Test("Without a factory, MetricsSystem's factory at first use makes the metrics")
    func systemFactory() async {
        await #expect(processExitsWith: .success) {
            let plugin = MetricsPlugin()
            let provider = Provider<Ask>(transport: ScriptedTransport(always: .status(200)), plugins: [plugin])
            let metrics = TestMetrics()
            MetricsSystem.bootstrap(metrics)
            _ = try await provider.request(Ask())
            precondition(metrics.counterTotal(label: "pipeline.calls") == 1, metrics.texts)
        }
    }
}
