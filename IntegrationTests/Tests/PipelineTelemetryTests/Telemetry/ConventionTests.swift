import Foundation
import InMemoryTracing
import Metrics
import Pipeline
import PipelineCaching
import PipelineTelemetry
import PipelineTesting
import TelemetryChecks
import TestSupport
import Testing
import Tracing

/// What both plugins report for a call, checked against OpenTelemetry's conventions.
@Suite("OpenTelemetry conventions", .tags(.concurrent), .realTime, .watched)
struct ConventionTests {
    private let metrics = CheckedMetrics()
    private let tracer = InMemoryTracer()
    private let clock = ManualClock()

    private var spans: [FinishedInMemorySpan] { tracer.finishedSpans }
    private var clientSpans: [FinishedInMemorySpan] { spans.filter { $0.kind == .client } }

    private var plugins: [any PluginType] { [TracingPlugin(tracer: tracer), MetricsPlugin(factory: metrics)] }

    private let again = PluginStack.intercept(name: "Again") { request, _, next in
        let response = try await next(request)
        return response.statusCode == 503 ? try await next(request) : response
    }

    private func provider(_ transport: any Transport, _ inner: [any PluginType] = []) -> Provider<Ask> {
        Provider(transport: transport, plugins: plugins + inner, configuration: .init(clock: clock))
    }

    /// Requires that nothing violates the conventions, and that there are as many client spans as expected.
    private func check(clientSpanCount: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(clientSpans.count == clientSpanCount, sourceLocation: sourceLocation)
        let violations = spans.flatMap { CheckedSpans.violations(of: $0) } + metrics.violations + metrics.unbalanced
        #expect(violations == [], sourceLocation: sourceLocation)
        #expect(metrics.seriesCount > 0, sourceLocation: sourceLocation)
        #expect(tracer.activeSpans.isEmpty, sourceLocation: sourceLocation)
    }

    // MARK: Outcomes

    private static let connected = ScriptedTransport.Step.answer { request, context in
        context.report(.connectionAwaited)
        context.report(
            .connection(PipelineExchange.Connection(protocolVersion: "2", peerAddress: "::1", peerPort: 443))
        )
        return PipelineResponse(request: request, statusCode: 200)
    }

    @Test(
        "The telemetry of every outcome follows the conventions",
        arguments: [
            [ScriptedTransport.Step.status(200, body: "hello")], [.status(204)], [.status(404)], [.status(999)],
            [.status(503), .status(200)],
            [.status(503), .status(302, headers: [.location: "https://b.test:8080/"]), .status(404)],
            [.failure(.timeout(.attempt))], [.failure(.connect(.refused))], [.failure(.tls(.certificate))],
            [.failure(.init(rawValue: "mine and yours"))], [.status(302, headers: [.location: "file:///etc"])],
            [connected],
        ]
    )
    func outcomes(steps: [ScriptedTransport.Step]) async {
        let asks = [
            Ask(), Ask(url: "http://[::1]:8080", validationType: .successCodes, pathTemplate: "/b"),
            Ask(url: "https://A.test?token=secret", method: .post, task: .requestData(Data("12345".utf8))),
            Ask(method: HTTPRequest.Method("get") ?? .get),
        ]
        for ask in asks { _ = try? await provider(ScriptedTransport(steps), [again]).request(ask) }
        check(clientSpanCount: steps.count * asks.count)
    }

    @Test("The telemetry of a cancelled call follows the conventions")
    func cancelled() async throws {
        let provider = provider(ScriptedTransport(always: .delayed(.seconds(9), .status(200))))
        let call = Task { try await provider.request(Ask()) }
        try await clock.waitForSleepers()
        call.cancel()
        _ = await call.result
        check(clientSpanCount: 1)
        #expect(spans.map { $0.status?.code } == [.error, .error])
    }

    @Test("The telemetry of a call that timed out follows the conventions")
    func timedOut() async throws {
        let provider = provider(ScriptedTransport(always: .delayed(.seconds(9), .status(200))))
        let call = Task { try await provider.request(Ask(), options: .init { $0.attemptTimeout = .seconds(1) }) }
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        _ = await call.result
        check(clientSpanCount: 1)
    }

    @Test("The telemetry of calls that were never sent follows the conventions")
    func neverSent() async {
        let own = PluginStack.exchange { request, _, _ in PipelineResponse(request: request, statusCode: 200) }
        let transport = ScriptedTransport([])
        for plugin in [own, .prepare { _, _ in throw CancellationError() }] as [any PluginType] {
            _ = try? await provider(transport, [plugin, TracingPlugin.Propagation()]).request(Ask())
            _ = try? await provider(transport, [TracingPlugin.Propagation(), plugin]).request(Ask())
        }
        _ = try? await provider(transport).request(Ask(url: "file:///etc"))
        check(clientSpanCount: 1)
    }

    @Test("The telemetry of joined and cached calls follows the conventions")
    func shared() async throws {
        let deduplication = DeduplicationPlugin()
        let step = ScriptedTransport.Step.status(200, headers: [.cacheControl: "max-age=60"])
        let transport = ScriptedTransport(always: .delayed(.seconds(1), step))
        let provider = provider(transport, [deduplication, CachePlugin()])
        let calls = (0..<2).map { _ in Task { try await provider.request(Ask()) } }
        await eventually { deduplication.callerCount >= 2 }
        try await clock.advanceToNextSleeper()
        for call in calls { _ = try await call.value }
        _ = try await provider.request(Ask())
        check(clientSpanCount: 1)
        #expect(spans.count == 4)
    }

    @Test("The telemetry of a refused connection and of a response over loopback follows the conventions")
    func loopback() async throws {
        let server = try LoopbackServer { _ in [.respond(200, body: "hello")] }
        let url = server.url.absoluteString
        let provider = Provider<Ask>(transport: URLSessionTransport(), plugins: plugins)
        #expect(try await provider.request(Ask(url: url)).statusCode == 200)
        server.stop()
        _ = try? await provider.request(Ask(url: url))
        check(clientSpanCount: 2)
    }

    @Test("Series beyond the limit follow the conventions")
    func overflow() async {
        let plugin = MetricsPlugin(maximumHostCount: 2, maximumSeriesCount: 10, factory: metrics)
        let provider = Provider<Ask>(transport: ScriptedTransport(always: .status(200)), plugins: [plugin])
        for number in 0..<20 { _ = try? await provider.request(Ask(url: "https://h\(number).test")) }
        check(clientSpanCount: 0)
    }

    // MARK: The checker

    private func span(
        _ name: String = "GET",
        _ kind: SpanKind = .client,
        _ change: (inout SpanAttributes) -> Void = { _ in },
        status: SpanStatus? = nil
    ) -> FinishedInMemorySpan? {
        let span = tracer.startSpan(name, context: .topLevel, ofKind: kind)
        var attributes: SpanAttributes = [:]
        attributes["http.request.method"] = "GET"
        attributes["server.address"] = "a.test"
        attributes["server.port"] = 443
        attributes["url.full"] = "https://a.test/b"
        if kind == .internal { attributes = [:] }
        change(&attributes)
        span.attributes = attributes
        if let status { span.setStatus(status) }
        span.end()
        return tracer.popFinishedSpans().first
    }

    @Test("The checker accepts a span that follows the conventions")
    func goodSpan() throws {
        #expect(CheckedSpans.violations(of: try #require(span())) == [])
        #expect(CheckedSpans.violations(of: try #require(span("Ask", .internal))) == [])
    }

    @Test(
        "The checker finds an attribute that is unknown, missing, of a wrong type or of a wrong value",
        arguments: [
            ("http.method", .string("GET")), ("server.port", .string("443")), ("server.port", nil),
            ("url.full", .string("/b")), ("url.full", .string("https://bob:pw@a.test/")),
            ("http.request.method", .string("MINE")), ("error.type", .string("404")),
            ("http.response.status_code", .int64(404)), ("http.request.method_original", .string("get")),
            ("network.peer.port", .int64(80)), ("http.request.resend_count", .int64(0)),
        ] as [(String, SpanAttribute?)]
    )
    func badAttribute(name: String, value: SpanAttribute?) throws {
        let status =
            value == nil || !["error.type", "http.response.status_code"].contains(name) ? nil : SpanStatus(code: .error)
        let bad = try #require(span("GET", .client, { $0[name] = value }, status: status))
        #expect(!CheckedSpans.violations(of: bad).isEmpty)
    }

    @Test("The checker finds a wrong name, a wrong kind, a status without error.type and a call with HTTP attributes")
    func badSpans() throws {
        for bad in [
            span("GET /b"), span("GET", .server), span(status: SpanStatus(code: .error)),
            span(status: SpanStatus(code: .ok)),
            span("Ask", .internal, { $0["http.request.method"] = "GET" }),
        ] {
            #expect(!CheckedSpans.violations(of: try #require(bad)).isEmpty)
        }
    }

    @Test("The checker finds a metric of a wrong kind, name, attribute or unit")
    func badMetrics() {
        let place = [("http.request.method", "GET"), ("server.address", "a.test"), ("server.port", "443")]
        let good = CheckedMetrics()
        Recorder(label: "http.client.request.duration", dimensions: place, factory: good).record(0.03)
        #expect(good.violations == [])
        let makers: [@Sendable (CheckedMetrics) -> Void] = [
            { _ = Counter(label: "http.client.request.duration", dimensions: place, factory: $0) },
            { _ = Counter(label: "http.client.requests", dimensions: place, factory: $0) },
            { _ = Recorder(label: "http.client.request.duration", dimensions: Array(place.dropLast()), factory: $0) },
            { _ = Meter(label: "http.client.active_requests", dimensions: place + [("host", "a.test")], factory: $0) },
            { _ = Counter(label: "pipeline.calls", dimensions: [("host", "a.test")], factory: $0) },
            { Recorder(label: "http.client.request.duration", dimensions: place, factory: $0).record(30_000_000) },
        ]
        for make in makers {
            let metrics = CheckedMetrics()
            make(metrics)
            #expect(metrics.violations.count == 1)
        }
    }

    @Test("The buckets are those that the conventions recommend")
    func buckets() {
        #expect(
            MetricsPlugin.durationBuckets == [
                0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
            ]
        )
    }

    @Test("Every condition of the table has a rule")
    func conditions() {
        let conditional = Convention.signals.values.flatMap(\.attributes).filter { !$0.value.condition.isEmpty }
        #expect(
            Set(conditional.map(\.key)) == [
                "error.type", "http.response.status_code", "http.request.method_original", "http.request.resend_count",
                "network.peer.port", "network.protocol.name", "url.template",
            ]
        )
        #expect(Convention.signals.count == 5)
        #expect(Convention.signals["http.client.request.duration"]?.unit == "s")
    }
}
