import Foundation
import Metrics
import MetricsTestKit
import Pipeline
import PipelineAPI
import PipelineAuth
import PipelineTelemetry
import PipelineTesting
import TestSupport
import Testing

@Suite("MetricsPlugin: attributes", .tags(.concurrent), .watched)
struct MetricAttributesTests {
    private struct Leak: Error {
        let text: String
    }

    private let metrics = TestMetrics()

    private func send(_ asks: [Ask], _ plugin: MetricsPlugin, _ step: ScriptedTransport.Step = .status(200)) async {
        let provider = Provider<Ask>(transport: ScriptedTransport(always: step), plugins: [plugin])
        for ask in asks { _ = try? await provider.request(ask) }
    }

    @Test("Methods that are not known are all _OTHER")
    func methods() async throws {
        let methods = ["GET", "QUERY", "get", "MINE1", "MINE2"].compactMap { HTTPRequest.Method($0) }
        await send(methods.map { Ask(method: $0) }, MetricsPlugin(factory: metrics))
        #expect(metrics.values(of: "http.request.method") == ["GET", "QUERY", "_OTHER"])
        metrics.reset()
        let known = Set<HTTPRequest.Method>.standardMethods.union(methods.suffix(1)).subtracting([.get])
        await send(methods.map { Ask(method: $0) }, MetricsPlugin(knownMethods: known, factory: metrics))
        #expect(metrics.values(of: "http.request.method") == ["QUERY", "MINE2", "_OTHER"])
    }

    @Test(
        "The server is the host without brackets, in lower case, and its port or that of the scheme",
        arguments: [
            ("https://A.Test:8443", "a.test", "8443"), ("http://[::1]:8080", "::1", "8080"),
            ("http://[::1]", "::1", "80"),
            ("https://a.test", "a.test", "443"),
        ]
    )
    func server(url: String, address: String, port: String) async {
        await send([Ask(url: url)], MetricsPlugin(factory: metrics))
        #expect(metrics.values(of: "server.address") == [address])
        #expect(metrics.values(of: "server.port") == [port])
        #expect(metrics.values(of: "url.scheme") == [String(url.prefix { $0 != ":" })])
    }

    @Test(
        "The first hosts have their own names with each port, and the rest are _OTHER with port 0",
        arguments: [0, 1, 20]
    )
    func hosts(maximumCount: Int) async {
        let asks = (0..<40).map { Ask(url: "https://h.test:\($0 % 30 + 1)") }
        let plugin = MetricsPlugin(maximumHostCount: maximumCount, factory: metrics)
        await send(asks, plugin)
        #expect(metrics.values(of: "server.port") == Set((0...maximumCount).map { "\($0)" }))
        #expect(metrics.values(of: "server.address") == (maximumCount == 0 ? ["_OTHER"] : ["h.test", "_OTHER"]))
        #expect(metrics.counterTotal(label: "pipeline.calls") == 40)
    }

    @Test("By default 20 hosts have their own names")
    func defaultHosts() async {
        await send((0..<25).map { Ask(url: "https://h\($0).test") }, MetricsPlugin(factory: metrics))
        #expect(metrics.values(of: "server.address").count == 21)
    }

    @Test(
        "The status is the code, and the status of a failure is also the error.type",
        arguments: [(200, []), (304, []), (404, ["404"]), (999, ["999"])] as [(Int, Set<String>)]
    )
    func statuses(code: Int, types: Set<String>) async {
        await send([Ask()], MetricsPlugin(factory: metrics), .status(code))
        #expect(metrics.values(of: "http.response.status_code") == ["\(code)"])
        #expect(metrics.values(of: "error.type") == types)
    }

    @Test("The template of the target's path is an attribute, except after a redirect")
    func template() async {
        let ask = Ask(pathTemplate: "/users/{id}")
        await send([ask], MetricsPlugin(factory: metrics))
        #expect(metrics.series.allSatisfy { $0.dimensions.contains { $0 == ("url.template", "/users/{id}") } })
        metrics.reset()
        let transport = ScriptedTransport([.status(302, headers: [.location: "/c"]), .status(200)])
        let provider = Provider<MultiTarget>(transport: transport, plugins: [MetricsPlugin(factory: metrics)])
        _ = try? await provider.request(MultiTarget(ask))
        #expect(
            metrics.exchanges == [
                "GET a.test:443 status=302 url.template=/users/{id}": 1, "GET a.test:443 status=200": 1,
            ]
        )
    }

    @Test("The version of HTTP is an attribute if the transport reports the connection")
    func version() async {
        let step = ScriptedTransport.Step.answer { request, context in
            context.report(.connection(PipelineExchange.Connection(protocolVersion: "2")))
            return PipelineResponse(request: request, statusCode: 200)
        }
        await send([Ask()], MetricsPlugin(factory: metrics), step)
        #expect(metrics.exchanges == ["GET a.test:443 status=200 network.protocol.version=2": 1])
    }

    @Test(
        "The codes of this package are values of error.type; codes of plugins are _OTHER",
        arguments: [
            (PipelineError.Code.clientClosed, "clientClosed"), (.unknownEnvironment, "unknownEnvironment"),
            (.stubWithoutTransport, "stubWithoutTransport"), (.offline, "offline"), (.timeout(.head), "timeout.head"),
            (.invalidRequest(.credential), "invalidRequest.credential"), (.sessionEnded, "sessionEnded"),
            (.tokenRefresh, "tokenRefresh"), (.excessiveRefresh, "excessiveRefresh"),
            (.pagination(.link), "pagination.link"), (.init(rawValue: "recording.busy"), "recording.busy"),
            (.init(rawValue: "mine"), "_OTHER"),
        ]
    )
    func errorTypes(code: PipelineError.Code, type: String) async {
        await send([Ask()], MetricsPlugin(factory: metrics), .failure(code))
        #expect(metrics.values(of: "error.type") == [type])
    }

    @Test("The target's type is an attribute on request, even inside a MultiTarget")
    func target() async throws {
        let plugin = MetricsPlugin(showsTarget: true, factory: metrics)
        let provider = Provider<MultiTarget>(transport: ScriptedTransport(always: .status(200)), plugins: [plugin])
        _ = try await provider.request(MultiTarget(Ask()))
        #expect(metrics.values(of: "pipeline.target") == ["Ask"])
        metrics.reset()
        await send([Ask()], MetricsPlugin(factory: metrics))
        #expect(metrics.values(of: "pipeline.target").isEmpty)
    }

    @Test("The names of metrics that OpenTelemetry does not define begin with the prefix")
    func prefix() async {
        await send([Ask()], MetricsPlugin(prefix: "shop.", factory: metrics))
        #expect(
            Set(metrics.series.map(\.name)) == [
                "http.client.request.duration", "http.client.active_requests", "shop.calls", "shop.call.duration",
                "shop.calls.active",
            ]
        )
    }

    @Test(
        "F06 No attribute or name of a metric contains a secret, whatever the outcome of the call",
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
        let plugin = MetricsPlugin(showsTarget: true, factory: metrics)
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
