#if Metrics
import Foundation
import HTTPTypes
import Metrics
import MetricsTestKit
import Pipeline
import PipelineAPI
import PipelinePlugins
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

@Suite("MetricsPlugin: metric objects", .tags(.concurrent))
struct MetricStoreTests {
    private let metrics = TestMetrics()

    private func send(_ asks: [Ask], _ plugin: MetricsPlugin, _ step: ScriptedTransport.Step = .status(200)) async {
        let provider = Provider<Ask>(transport: ScriptedTransport(always: step), plugins: [plugin])
        for ask in asks { _ = try? await provider.request(ask) }
    }

    private func values(of label: String) -> Set<String> {
        Set(
            (metrics.counters.flatMap(\.dimensions) + metrics.timers.flatMap(\.dimensions)).filter { $0.0 == label }
                .map(\.1)
        )
    }

    @Test("Copies of a plugin share their metrics, and each metric is made once")
    func sharing() async {
        let plugin = MetricsPlugin(factory: metrics)
        await send([Ask(), Ask()], plugin)
        await send([Ask()], plugin)
        #expect(metrics.count == 6)
        #expect(metrics.counterTotal(label: "pipeline.calls") == 3)
    }

    @Test("Metric objects are limited; beyond the limit, values are counted with all labels other", arguments: [1, 10])
    func bound(maximumCount: Int) async {
        let plugin = MetricsPlugin(maximumHostCount: 1_000, maximumSeriesCount: maximumCount, factory: metrics)
        await send((0..<200).map { Ask(url: "https://h\($0).test") }, plugin)
        #expect(metrics.count <= maximumCount + 13)
        #expect(metrics.totals["pipeline.calls method=other host=other status=other outcome=other"] ?? 0 > 190)
        #expect(metrics.counterTotal(label: "pipeline.calls") == 200)
        #expect(metrics.counterTotal(label: "pipeline.exchanges") == 200)
        #expect(metrics.durations.values.joined().count == 400)
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
        #expect(metrics.count <= 51)
        #expect(metrics.counterTotal(label: "pipeline.calls") == 300)
        #expect(metrics.counterTotal(label: "pipeline.exchanges") == 300)
        #expect(metrics.levels.values.allSatisfy { $0.last == 0 && $0.count == 600 })
    }

    @Test("The limit holds if the last place is taken while a metric is made")
    func boundWhileMaking() async throws {
        let factory = CallingFactory(inner: metrics)
        let plugin = MetricsPlugin(maximumSeriesCount: 2, factory: factory)
        let observe = PluginStack.prepare { request, context in
            func body(_ host: String, _ count: Int) throws -> PipelineRequest {
                try PipelineRequest(.post, url: "https://\(host)/", body: .bytes(Data(count: count)))
            }
            plugin.willSend(try body("a.test", 0), context: context)
            let other = try body("b.test", 3)
            factory.onMake { plugin.willSend(other, context: context) }
            plugin.willSend(try body("a.test", 5), context: context)
        }
        let provider = Provider<Ask>(transport: ScriptedTransport(always: .status(200)), plugins: [observe])
        _ = try await provider.request(Ask())
        #expect(metrics.totals["pipeline.sent.bytes method=POST host=b.test"] == 3)
        #expect(metrics.totals["pipeline.sent.bytes method=other host=other"] == 5)
        #expect(metrics.totals["pipeline.sent.bytes method=POST host=a.test"] == 0)
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
        #expect(metrics.levels["pipeline.exchanges.active"] == [1, 2, 1])
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
#endif
