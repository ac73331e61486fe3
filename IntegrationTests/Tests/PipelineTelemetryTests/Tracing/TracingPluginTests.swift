import Foundation
import InMemoryTracing
import Pipeline
import PipelineCaching
import PipelineTesting
import TestSupport
import Testing
import Tracing

@testable import PipelineTelemetry

@Suite("TracingPlugin", .tags(.concurrent), .watched)
struct TracingPluginTests {
    private let tracer = W3CTracer()
    private let clock = ManualClock()

    private var plugin: TracingPlugin { TracingPlugin(tracer: tracer) }

    private let again = PluginStack.intercept(name: "Again") { request, _, next in
        let response = try await next(request)
        return response.statusCode == 503 ? try await next(request) : response
    }

    private var call: FinishedInMemorySpan? { tracer.finished.last { $0.operationName == "Ask" } }
    private var exchanges: [FinishedInMemorySpan] { tracer.finished.filter { $0.kind == .client } }

    private func send(_ ask: Ask = Ask(), to steps: [ScriptedTransport.Step], _ plugins: (any PluginType)...) async {
        let provider = Provider<Ask>(
            transport: ScriptedTransport(steps),
            plugins: plugins,
            configuration: .init(clock: clock)
        )
        _ = try? await provider.request(ask)
    }

    @Test("The plugin passes the conformance suite")
    func conformance() async {
        let violations = await PluginConformance { TracingPlugin(tracer: W3CTracer()) }.run()
        #expect(violations == [])
    }

    @Test("The span of a call says what the cache did")
    func cache() async throws {
        let fields: HTTPFields = [.cacheControl: "max-age=60"]
        let provider = Provider<Ask>(
            transport: ScriptedTransport(always: .status(200, headers: fields)),
            plugins: [plugin, CachePlugin()],
            configuration: .init(clock: clock)
        )
        for kind in ["miss", "hit"] {
            _ = try await provider.request(Ask())
            #expect(call?.texts["pipeline.cache"] == kind)
        }
        #expect(exchanges.count == 1)
    }

    // MARK: Spans

    @Test("A call has a span with a child span for each exchange, with OpenTelemetry's attribute names")
    func spans() async throws {
        await send(Ask(url: "https://a.test:8443"), to: [.status(200)], plugin)
        let request = [
            "http.request.method": "GET", "url.full": "https://a.test:8443/b", "url.scheme": "https",
            "server.address": "a.test", "server.port": "8443", "http.response.status_code": "200",
        ]
        let call = try #require(call)
        let exchange = try #require(exchanges.first)
        #expect(tracer.finished.count == 2)
        #expect(tracer.active.isEmpty)
        #expect([call.operationName, exchange.operationName] == ["Ask", "GET"])
        #expect(call.texts == ["pipeline.exchange_count": "1"])
        #expect(exchange.texts == request)
        #expect(call.parentSpanID == nil)
        #expect(exchange.parentSpanID == call.spanID)
        #expect(tracer.finished.allSatisfy { $0.status == nil && $0.errors.isEmpty })
    }

    @Test("Each attempt and each redirect has its own span with the number of earlier sends")
    func resends() async {
        let steps: [ScriptedTransport.Step] = [
            .status(503), .status(302, headers: [.location: "https://b.test/"]), .status(200),
        ]
        await send(to: steps, plugin, again)
        #expect(exchanges.map { $0.texts["http.request.resend_count"] } == [nil, "1", "2"])
        #expect(exchanges.map { $0.texts["pipeline.attempt"] } == [nil, "2", "2"])
        #expect(exchanges.map { $0.texts["pipeline.hop"] } == [nil, nil, "1"])
        #expect(exchanges.map { $0.texts["server.address"] } == ["a.test", "a.test", "b.test"])
        #expect(exchanges.allSatisfy { $0.parentSpanID == call?.spanID })
        #expect(call?.texts["pipeline.exchange_count"] == "3")
        #expect(tracer.active.isEmpty)
    }

    @Test("Span times come from the provider's clock")
    func moments() async throws {
        let steps: [ScriptedTransport.Step] = [
            .delayed(.milliseconds(30), .status(503)), .delayed(.milliseconds(12), .status(200)),
        ]
        clock.advance(by: .seconds(86_400))
        let slow = PluginStack.prepare { _, context in try await context.clock.sleep(for: .seconds(1)) }
        let call = Task { await send(to: steps, slow, plugin, again) }
        try await clock.advanceToNextSleeper()
        try await clock.advanceToNextSleeper()
        try await clock.advanceToNextSleeper()
        await call.value
        #expect(exchanges.map(\.duration) == [30_000_000, 12_000_000])
        #expect(self.call?.duration == 42_000_000)
        // 2026-01-02 00:00:01 UTC
        #expect(self.call?.startInstant.nanosecondsSinceEpoch == 1_767_312_001_000_000_000)
    }

    @Test("The call's span is a child of the current span and is itself current for everything inside")
    func current() async {
        let outer = tracer.startSpan("outer")
        let seen = PluginStack.prepare { _, _ in self.tracer.startSpan("inside").end() }
        let wire = ScriptedTransport.Step.answer { request, _ in
            self.tracer.startSpan("wire").end()
            return PipelineResponse(request: request, statusCode: 200)
        }
        await ServiceContext.withValue(outer.context) { await send(to: [wire], plugin, seen) }
        outer.end()
        #expect(call?.parentSpanID == outer.spanID)
        let inside = tracer.finished.filter { ["inside", "wire"].contains($0.operationName) }
        #expect(inside.map(\.parentSpanID) == [call?.spanID, call?.spanID])
    }

    @Test("TracingPlugin does not change the request or the response")
    func changesNothing() async throws {
        let transport = ScriptedTransport([.status(200, headers: [.server: "s"], body: "hello")])
        let response = try await Provider<Ask>(transport: transport, plugins: [plugin]).request(Ask())
        #expect(transport.sent.map(\.headers) == [[:]])
        #expect(response.headers == [.server: "s"])
        #expect(response.data == Data("hello".utf8))
    }

    @Test(
        "Without a tracer, each call uses InstrumentationSystem's current tracer and sends its fields"
    )
    func systemTracer() async {
        await #expect(processExitsWith: .success) {
            let transport = ScriptedTransport(always: .status(200))
            let plugins: [any PluginType] = [TracingPlugin(), TracingPlugin.Propagation()]
            let provider = Provider<Ask>(transport: transport, plugins: plugins)
            _ = try await provider.request(Ask())
            let tracer = W3CTracer()
            InstrumentationSystem.bootstrap(tracer)
            _ = try await provider.request(Ask())
            precondition(tracer.finished.count == 2, "\(tracer.finished.count) spans")
            let told = transport.sent.map { $0.headers[.traceparent] }
            precondition(told == [nil, W3CTracer.traceparent(tracer.finished[0])], "\(told)")
        }
    }

    @Test("The span of a streamed call ends with the header fields, and the body is passed on unread")
    func streams() async throws {
        let body = PipelineBody.stream(AsyncStream { $0.finish() })
        let provider = Provider<Ask>(transport: ScriptedTransport([.status(200, body: body)]), plugins: [plugin])
        let response = try await provider.stream(Ask())
        #expect(tracer.finished.count == 2)
        for try await _ in response.body {}
    }

    // MARK: Failures

    @Test(
        "A status of 400 or above is an error of the exchange, and of the call unless its target accepts it",
        arguments: [
            (200, ValidationType.anyStatus, false, false), (404, .anyStatus, true, true), (500, .anyStatus, true, true),
            (404, .customCodes([404]), true, false), (204, .customCodes([200]), false, true),
        ]
    )
    func statuses(code: Int, validation: ValidationType, exchangeFails: Bool, callFails: Bool) async throws {
        await send(Ask(validationType: validation), to: [.status(code)], plugin)
        let exchange = try #require(exchanges.first)
        let call = try #require(call)
        #expect(exchange.status?.code == (exchangeFails ? .error : nil))
        #expect(exchange.texts["error.type"] == (exchangeFails ? "\(code)" : nil))
        #expect(call.status?.code == (callFails ? .error : nil))
        #expect(call.texts["error.type"] == (callFails ? "\(code)" : nil))
        #expect(exchange.texts["http.response.status_code"] == "\(code)")
    }

    @Test("A failure marks both spans as errors with its code and description and is passed on")
    func failure() async throws {
        let provider = Provider<Ask>(transport: ScriptedTransport([.failure(.connect(.refused))]), plugins: [plugin])
        let error = await #expect(throws: PipelineError.self) { try await provider.request(Ask()) }
        #expect(error?.code == .connect(.refused))
        #expect(error?.plugin == nil)
        #expect(tracer.finished.count == 2)
        for span in tracer.finished {
            #expect(span.texts["error.type"] == "connect.refused")
            #expect(span.status == SpanStatus(code: .error, message: "connect.refused: by script; GET a.test/b"))
            #expect(span.errors.isEmpty)
        }
    }

    @Test("A cancelled call is an error of both spans, with cancelled as error.type")
    func cancelled() async throws {
        let transport = ScriptedTransport(always: .delayed(.seconds(9), .status(200)))
        let provider = Provider<Ask>(transport: transport, plugins: [plugin], configuration: .init(clock: clock))
        let call = Task { try await provider.request(Ask()) }
        try await clock.waitForSleepers()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(tracer.finished.map { $0.texts["error.type"] } == ["cancelled", "cancelled"])
        #expect(tracer.finished.allSatisfy { $0.status?.code == .error })
        #expect(tracer.active.isEmpty)
    }

    // MARK: Position

    @Test(
        "Inside a retry plugin each attempt has a call span; outside it, all attempts share one",
        arguments: [true, false]
    )
    func position(isInside: Bool) async {
        let steps: [ScriptedTransport.Step] = [.status(503), .status(200)]
        if isInside { await send(to: steps, again, plugin) } else { await send(to: steps, plugin, again) }
        let calls = tracer.finished.filter { $0.kind == .internal }
        #expect(calls.count == (isInside ? 2 : 1))
        #expect(exchanges.map(\.parentSpanID) == (isInside ? calls.map(\.spanID) : [calls[0].spanID, calls[0].spanID]))
    }

    @Test("Of concurrent passes only one traces the call; another can once it has ended")
    func reservation() {
        var current = CurrentTrace()
        let atOnce = [current.reserve(), current.reserve()]
        current.isReserved = false
        let next = current.reserve()
        #expect(atOnce == [true, false])
        #expect(next)
    }

    @Test("An inner TracingPlugin does nothing")
    func two() async {
        let inner = W3CTracer()
        await send(to: [.status(200)], plugin, TracingPlugin(tracer: inner))
        #expect(tracer.finished.count == 2)
        #expect(inner.finished.isEmpty)
    }

    @Test("The call's span ends when the response reaches the plugin's position")
    func endsAtItsPlace() async throws {
        let slow = PluginStack.process { _, context in try? await context.clock.sleep(for: .seconds(1)) }
        for plugins in [[plugin, slow] as [any PluginType], [slow, plugin]] {
            let provider = Provider<Ask>(
                transport: ScriptedTransport([.status(200)]),
                plugins: plugins,
                configuration: .init(clock: clock)
            )
            let call = Task { try await provider.request(Ask()) }
            try await clock.advanceToNextSleeper()
            _ = try? await call.value
        }
        #expect(tracer.finished.filter { $0.kind == .internal }.map(\.duration) == [1_000_000_000, 0])
    }

    @Test("The stack reports a second TracingPlugin and notes a missing propagation or an outer retry")
    func findings() {
        func described(_ plugins: any PluginType...) -> PipelineDescription {
            Provider<Ask>(transport: ScriptedTransport([]), plugins: plugins).explain()
        }
        let propagation = TracingPlugin.Propagation()
        let good = described(plugin, again, propagation)
        #expect(good.findings.isEmpty)
        #expect(good.hints.isEmpty)
        #expect(good.entries.map(\.name) == ["TracingPlugin", "Again", "TracingPlugin.Propagation"])
        let wrong = described(plugin, plugin, propagation).findings
        #expect(wrong.map(\.message).joined().contains("TracingPlugin is used twice"))
        let notable: [(PipelineDescription, String)] = [
            (described(plugin), "no traceparent is sent"),
            (described(again, plugin, propagation), "TracingPlugin is inside Again"),
        ]
        for (stack, text) in notable {
            #expect(stack.findings.isEmpty)
            #expect(stack.hints.map(\.message).joined().contains(text))
        }
    }

    // MARK: Secrets

    private struct Leak: Error {
        let text: String
    }

    @Test(
        "F06 No span contains a secret, whatever the outcome of the call",
        arguments: [
            ScriptedTransport.Step.status(200, headers: [.setCookie: "canary-20"], body: "canary-21"),
            .status(302, headers: [.location: "https://bob:canary-22@a.test/?token=canary-24#canary-25"]),
            .status(302, headers: [.location: "https://b.test/?token=canary-26"]),
            .status(500, headers: [.wwwAuthenticate: "Digest nonce=canary-27"], body: "canary-28"),
            .failure(Leak(text: "canary-29")),
            .failure(PipelineError(.connectionLost, "reset", underlyingError: Leak(text: "canary-31"))),
        ]
    )
    func secrets(step: ScriptedTransport.Step) async {
        let ask = Ask(
            url: "https://a.test?token=canary-1&canary-2",
            method: .post,
            task: .requestData(Data("password=canary-4".utf8)),
            headers: ["Authorization": "Bearer canary-5", "Cookie": "canary-6", "X-Api-Key": "canary-7"],
            validationType: .successCodes
        )
        await send(ask, to: [step, .status(200)], plugin, TracingPlugin.Propagation())
        await send(Ask(url: "https://bob:canary-8@a.test"), to: [step, .status(200)], plugin)
        #expect(tracer.finished.count >= 2)
        #expect(tracer.active.isEmpty)
        for span in tracer.finished { #expect(!span.everything.contains("canary"), "\(span.everything)") }
    }
}
