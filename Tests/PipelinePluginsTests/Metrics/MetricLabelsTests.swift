#if Metrics
import Foundation
import HTTPTypes
import Metrics
import MetricsTestKit
import Pipeline
import PipelineAPI
import PipelinePlugins
import PipelineTesting
import TestSupport
import Testing

@Suite("MetricsPlugin: labels", .tags(.concurrent))
struct MetricLabelsTests {
    private struct Leak: Error {
        let text: String
    }

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

    @Test("Methods that no RFC defines are all labelled _OTHER")
    func methods() async throws {
        let methods = ["GET", "QUERY", "get", "MINE1", "MINE2"].compactMap { HTTPRequest.Method($0) }
        await send(methods.map { Ask(method: $0) }, MetricsPlugin(factory: metrics))
        #expect(values(of: "method") == ["GET", "QUERY", "_OTHER"])
    }

    @Test(
        "The host label has no port or brackets and is in lower case",
        arguments: [
            ("https://A.Test:8443", "a.test"), ("http://[::1]:80", "::1"), ("http://[::1]", "::1"),
            ("https://a.test", "a.test"),
        ]
    )
    func host(url: String, host: String) async {
        await send([Ask(url: url)], MetricsPlugin(factory: metrics))
        #expect(values(of: "host") == [host])
    }

    @Test(
        "The first hosts have their own labels, the rest are other, and a maximum of 0 omits the label",
        arguments: [0, 1, 20]
    )
    func hosts(maximumCount: Int) async {
        let asks = (0..<40).map { Ask(url: "https://h\($0 % 30).test") }
        let plugin = MetricsPlugin(maximumHostCount: maximumCount, factory: metrics)
        await send(asks, plugin)
        let named = Set((0..<maximumCount).map { "h\($0).test" })
        #expect(values(of: "host") == (maximumCount == 0 ? [] : named.union(["other"])))
        #expect(metrics.counterTotal(label: "pipeline.calls") == 40)
    }

    @Test("By default 20 hosts have their own labels")
    func defaultHosts() async {
        await send((0..<25).map { Ask(url: "https://h\($0).test") }, MetricsPlugin(factory: metrics))
        #expect(values(of: "host").count == 21)
    }

    @Test(
        "The status label is the class or, on request, the code; an invalid status is other",
        arguments: [(200, "2xx", "200"), (404, "4xx", "404"), (999, "other", "other")]
    )
    func statuses(code: Int, named: String, exact: String) async {
        await send([Ask()], MetricsPlugin(factory: metrics), .status(code))
        #expect(values(of: "status") == [named])
        metrics.reset()
        await send([Ask()], MetricsPlugin(showsStatusCode: true, factory: metrics), .status(code))
        #expect(values(of: "status") == [exact])
    }

    @Test(
        "Each kind of failure of this package is an outcome, without its detail; unknown codes are other",
        arguments: [
            (PipelineError.Code.clientClosed, "clientClosed"), (.unknownEnvironment, "unknownEnvironment"),
            (.stubWithoutTransport, "stubWithoutTransport"), (.offline, "offline"), (.timeout(.head), "timeout"),
            (.invalidRequest(.credential), "invalidRequest"), (.sessionEnded, "sessionEnded"),
            (.tokenRefresh, "tokenRefresh"), (.excessiveRefresh, "excessiveRefresh"),
            (.pagination(.link), "pagination"), (.init(rawValue: "recording.busy"), "recording"),
            (.init(rawValue: "mine"), "other"),
        ]
    )
    func outcomes(code: PipelineError.Code, outcome: String) async {
        await send([Ask()], MetricsPlugin(factory: metrics), .failure(code))
        #expect(values(of: "outcome") == [outcome])
    }

    @Test("The target's type is a label on request, even inside a MultiTarget")
    func target() async throws {
        let plugin = MetricsPlugin(showsTarget: true, factory: metrics)
        let provider = Provider<MultiTarget>(transport: ScriptedTransport(always: .status(200)), plugins: [plugin])
        _ = try await provider.request(MultiTarget(Ask()))
        #expect(values(of: "target") == ["Ask"])
        metrics.reset()
        await send([Ask()], MetricsPlugin(factory: metrics))
        #expect(values(of: "target").isEmpty)
    }

    @Test("Every metric name begins with the prefix")
    func prefix() async {
        await send([Ask()], MetricsPlugin(prefix: "shop.", factory: metrics))
        let names = metrics.counters.map(\.label) + metrics.timers.map(\.label) + metrics.meters.map(\.label)
        #expect(names.count == 6)
        #expect(names.allSatisfy { $0.hasPrefix("shop.") })
    }

    @Test(
        "F06 No label or metric name contains a secret, whatever the outcome of the call",
        arguments: [
            ScriptedTransport.Step.status(200, headers: [.setCookie: "canary-20"], body: "canary-21"),
            .status(302, headers: [.location: "https://bob:canary-22@a.test/canary-23?token=canary-24#canary-25"]),
            .status(500, headers: [.wwwAuthenticate: "Digest nonce=canary-26"], body: "canary-27"),
            .failure(Leak(text: "canary-28")),
            .failure(
                PipelineError(.init(rawValue: "canary-29"), "canary-30", underlyingError: Leak(text: "canary-31"))
            ),
        ]
    )
    func secrets(step: ScriptedTransport.Step) async {
        let ask = Ask(
            url: "https://a.test?token=canary-1",
            path: "/canary-2",
            method: HTTPRequest.Method("CANARY-3") ?? .post,
            task: .requestData(Data("password=canary-4".utf8)),
            headers: ["Authorization": "Bearer canary-5", "Cookie": "canary-6", "X-Api-Key": "canary-7"],
            validationType: .successCodes
        )
        let plugin = MetricsPlugin(showsStatusCode: true, showsTarget: true, factory: metrics)
        await send([ask, Ask(url: "https://bob:canary-8@a.test")], plugin, step)
        #expect(metrics.counterTotal(label: "pipeline.calls") == 2)
        #expect(!metrics.texts.lowercased().contains("canary"), "\(metrics.texts)")
    }

    @Test("A negative maximumHostCount traps with a message that names it")
    func badHostCount() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = MetricsPlugin(maximumHostCount: -3)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("maximumHostCount is -3"))
    }

    @Test("A maximumSeriesCount of 0 traps with a message that names it")
    func badSeriesCount() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = MetricsPlugin(maximumSeriesCount: 0)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("maximumSeriesCount is 0"))
    }
}
#endif
