import Foundation
import InMemoryTracing
import Pipeline
import PipelineTelemetry
import PipelineTesting
import Synchronization
import TestSupport
import Testing
import Tracing

/// The distinct texts that plugins have seen.
private final class Seen: Sendable {
    private let texts = Mutex<Set<String>>([])

    var values: Set<String> { texts.withLock { $0 } }

    func add(_ text: String) {
        _ = texts.withLock { $0.insert(text) }
    }
}

@Suite("TracingPlugin.Propagation", .tags(.concurrent), .realTime, .watched)
struct TracingPluginPropagationTests {
    private struct Refused: Error {}

    private let tracer = W3CTracer()

    private var plugin: TracingPlugin { TracingPlugin(tracer: tracer) }
    private let propagation = TracingPlugin.Propagation()

    private let again = PluginStack.intercept { request, _, next in
        let response = try await next(request)
        return response.statusCode == 503 ? try await next(request) : response
    }

    private var exchanges: [FinishedInMemorySpan] { tracer.finished.filter { $0.kind == .client } }

    /// Sends a request and returns the requests that reached the transport.
    private func send(_ steps: [ScriptedTransport.Step], _ plugins: (any PluginType)...) async -> [PipelineRequest] {
        let transport = ScriptedTransport(steps)
        let provider = Provider<Ask>(transport: transport, plugins: plugins)
        _ = try? await provider.request(Ask(headers: ["traceparent": "old", "Accept": "a"]))
        return transport.sent
    }

    @Test("The plugin passes the conformance suite")
    func conformance() async {
        let violations = await PluginConformance { TracingPlugin.Propagation() }.run()
        #expect(violations == [])
    }

    // MARK: Fields

    @Test("Propagation sends the exchange's span to the server and replaces existing fields")
    func traceparent() async throws {
        let sent = await send([.status(200)], plugin, propagation)
        let exchange = try #require(exchanges.first)
        #expect(sent.map { $0.headers[values: .traceparent] } == [[W3CTracer.traceparent(exchange)]])
        #expect(sent.first?.headers[.tracestate] == "vendor=1")
        #expect(sent.first?.headers[.accept] == "a")
    }

    @Test("A field that is not valid in a request is omitted, and the call continues")
    func badFields() async {
        let sent = await send([.status(200)], plugin, propagation)
        #expect(sent.count == 1)
        #expect(
            sent.first?.headers.contains { $0.name.canonicalName.contains("split") || $0.name.rawName.contains(" ") }
                == false
        )
    }

    @Test(
        "Fields except traceparent and tracestate are secret and dropped when a redirect leaves the origin",
        arguments: ["https://b.test/", "/c"]
    )
    func secretFields(location: String) async throws {
        let baggage = try #require(HTTPField.Name("baggage"))
        let sent = await send([.status(302, headers: [.location: location]), .status(200)], plugin, propagation)
        #expect(sent.first?.secretFields == [baggage])
        #expect(sent.map { $0.headers[baggage] != nil } == [true, location == "/c"])
        #expect(sent.allSatisfy { $0.headers[.traceparent] != nil })
    }

    @Test("Each hop of a redirect has its own span, which is sent to its server")
    func redirect() async {
        let sent = await send([.status(302, headers: [.location: "/c"]), .status(200)], plugin, propagation)
        #expect(exchanges.count == 2)
        #expect(sent.map { $0.headers[.traceparent] } == exchanges.map(W3CTracer.traceparent))
    }

    @Test("The fields of a given instrument are sent")
    func instrument() async {
        let other = InMemoryTracer()
        let sent = await send(
            [.status(200)],
            TracingPlugin(tracer: other),
            TracingPlugin.Propagation(instrument: tracer)
        )
        let exchange = other.finishedSpans.first { $0.kind == .client }
        #expect(sent.first?.headers[.traceparent] == exchange.map(W3CTracer.traceparent))
    }

    // MARK: Position

    @Test("Each attempt is sent with its own span, wherever the plugin is", arguments: [true, false])
    func attempts(isInside: Bool) async {
        let steps: [ScriptedTransport.Step] = [.status(503), .status(200)]
        let sent =
            isInside ? await send(steps, plugin, again, propagation) : await send(steps, propagation, plugin, again)
        let spans = exchanges.map(W3CTracer.traceparent)
        #expect(spans.count == 2)
        #expect(sent.map { $0.headers[.traceparent] } == spans)
        #expect(tracer.active.isEmpty)
    }

    @Test(
        "Inside an exchange plugin that sends twice, each request has its own span; outside it, all share one",
        arguments: [true, false]
    )
    func sends(isInside: Bool) async {
        let twice = PluginStack.exchange { request, _, send in
            async let first = send(request)
            async let second = send(request)
            return try await [first, second][0]
        }
        let steps: [ScriptedTransport.Step] = [.status(200), .status(200)]
        let sent =
            isInside ? await send(steps, plugin, twice, propagation) : await send(steps, plugin, propagation, twice)
        let spans = Set(exchanges.map(W3CTracer.traceparent))
        #expect(spans.count == 2)
        let fields = Set(sent.compactMap { $0.headers[.traceparent] })
        #expect(isInside ? fields == spans : fields.count == 1 && fields.isSubset(of: spans))
        #expect(tracer.active.isEmpty)
    }

    @Test("Call plugins never see traceparent, wherever they are; inner exchange plugins do")
    func seen() async {
        let seen = Seen()
        func noting(_ name: String) -> any PluginType {
            PluginStack.intercept(name: name) { request, _, next in
                seen.add("\(name) \(request.headers[.traceparent] ?? "none")")
                return try await next(request)
            }
        }
        let inside = PluginStack.exchange { request, _, send in
            seen.add("exchange " + (request.headers[.traceparent] ?? "none"))
            return try await send(request)
        }
        let provider = Provider<Ask>(
            transport: ScriptedTransport([.status(200)]),
            plugins: [noting("outside"), plugin, propagation, noting("inside"), inside]
        )
        _ = try? await provider.request(Ask())
        let span = exchanges.first.map(W3CTracer.traceparent) ?? ""
        #expect(seen.values == ["outside none", "inside none", "exchange \(span)"])
    }

    @Test("A separate call by an inner plugin does not take the span of the exchange")
    func nested() async throws {
        let keys = Provider<Ask>(transport: ScriptedTransport([.status(200)]), plugins: [plugin])
        let signer = PluginStack.exchange { request, _, send in
            _ = try await keys.request(Ask(path: "/keys"))
            return try await send(request)
        }
        let sent = await send([.status(200)], plugin, propagation, signer)
        let own = exchanges.first { $0.texts["url.full"] == "https://a.test/b" }
        #expect(exchanges.count == 2)
        #expect(sent.map { $0.headers[.traceparent] } == [own.map(W3CTracer.traceparent)])
    }

    @Test("Without TracingPlugin, the current span is sent and no span is created")
    func alone() async {
        let outer = tracer.startSpan("outer")
        let propagation = TracingPlugin.Propagation(instrument: tracer)
        let sent = await ServiceContext.withValue(outer.context) { await send([.status(200)], propagation) }
        outer.end()
        #expect(sent.first?.headers[.traceparent] == tracer.finished.first.map(W3CTracer.traceparent))
        #expect(tracer.finished.count == 1)
    }

    @Test("An inner plugin that changes the URL or the method changes the attributes of the span")
    func changed() async {
        let moving = PluginStack.exchange { request, _, send in
            var request = request
            request.head.path = "/moved?x=1"
            request.head.method = .post
            return try await send(request)
        }
        _ = await send([.status(200)], plugin, propagation, moving)
        #expect(exchanges.map { $0.texts["url.full"] } == ["https://a.test/moved?x=…"])
        #expect(exchanges.map { $0.texts["http.request.method"] } == ["POST"])
    }

    // MARK: No exchange

    @Test("If an inner plugin responds, the open span records that nothing was sent")
    func answeredInside() async {
        let own = PluginStack.exchange { request, _, _ in PipelineResponse(request: request, statusCode: 200) }
        _ = await send([], plugin, propagation, own)
        #expect(exchanges.map { $0.texts["pipeline.sent"] } == ["false"])
        #expect(exchanges.map { $0.texts["url.full"] } == ["https://a.test/b"])
        #expect(exchanges.first?.status == nil)
        #expect(tracer.active.isEmpty)
    }

    @Test("If an inner plugin fails, the span records it, and the failure passes on as that plugin's")
    func refusedInside() async {
        let provider = Provider<Ask>(
            transport: ScriptedTransport([]),
            plugins: [plugin, propagation, PluginStack.exchange(name: "No") { _, _, _ in throw Refused() }]
        )
        let error = await #expect(throws: PipelineError.self) { try await provider.request(Ask()) }
        #expect(error?.plugin == "No")
        #expect(exchanges.map { $0.texts["pipeline.sent"] } == ["false"])
        #expect(exchanges.map { $0.texts["error.type"] } == ["plugin"])
        #expect(exchanges.first?.status?.code == .error)
        #expect(tracer.active.isEmpty)
    }

    @Test("An exchange that continues after a plugin has responded keeps its span until it ends")
    func goesOn() async throws {
        let clock = ManualClock()
        let (works, keep) = AsyncStream<Task<PipelineResponse, any Error>>.makeStream()
        let early = PluginStack.intercept { request, _, next in
            keep.yield(Task { try await next(request) })
            try await clock.waitForSleepers()
            return PipelineResponse(request: request, statusCode: 203)
        }
        let provider = Provider<Ask>(
            transport: ScriptedTransport(always: .delayed(.seconds(1), .status(200))),
            plugins: [plugin, propagation, early],
            configuration: .init(clock: clock)
        )
        #expect(try await provider.request(Ask()).statusCode == 203)
        #expect(exchanges.isEmpty)
        clock.advance(by: .seconds(1))
        _ = try await works.first { _ in true }?.value
        #expect(exchanges.map(\.duration) == [1_000_000_000])
        #expect(exchanges.first?.texts["pipeline.sent"] == nil)
        #expect(exchanges.first?.texts["http.response.status_code"] == "200")
    }

    // MARK: Many and the network

    @Test("Each of many concurrent calls has its own trace, and no span stays open")
    func concurrency() async {
        let transport = ScriptedTransport { _, index in .status(index.isMultiple(of: 3) ? 503 : 200) }
        let provider = Provider<Ask>(transport: transport, plugins: [plugin, again, propagation])
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 { group.addTask { _ = try? await provider.request(Ask(path: "/\(number)")) } }
        }
        let calls = tracer.finished.filter { $0.kind == .internal }
        #expect(calls.count == 200)
        #expect(Set(calls.map(\.traceID)).count == 200)
        #expect(exchanges.count == transport.sent.count)
        #expect(
            Set(transport.sent.compactMap { $0.headers[.traceparent] }) == Set(exchanges.map(W3CTracer.traceparent))
        )
        let paths = Dictionary(grouping: exchanges) { $0.parentSpanID ?? "" }.mapValues {
            $0.map { $0.texts["url.full"] }
        }
        #expect(Set(paths.keys) == Set(calls.map(\.spanID)))
        #expect(paths.values.allSatisfy { Set($0).count == 1 })
        #expect(tracer.active.isEmpty)
    }

    @Test("Over loopback HTTP the server receives the traceparent of each attempt")
    func loopback() async throws {
        let server = try LoopbackServer { request in
            [.respond(request.values(of: "x-attempt") == ["2"] ? 200 : 503, body: "hello")]
        }
        defer { server.stop() }
        let number = PluginStack.prepare { request, context in
            if let name = HTTPField.Name("X-Attempt") { request.headers[name] = "\(context.attempt)" }
        }
        let provider = Provider<Ask>(transport: URLSessionTransport(), plugins: [plugin, again, number, propagation])
        #expect(try await provider.request(Ask(url: server.url.absoluteString)).statusCode == 200)
        #expect(server.requests.map { $0.values(of: "traceparent") } == exchanges.map { [W3CTracer.traceparent($0)] })
        #expect(exchanges.map { $0.texts["http.response.status_code"] } == ["503", "200"])
        #expect(exchanges.allSatisfy { $0.texts["server.port"] == "\(server.port)" })
    }
}
