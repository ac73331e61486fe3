import Foundation
import Metrics
import MetricsTestKit
import Pipeline
import PipelineCaching
import PipelineTelemetry
import PipelineTesting
import TestSupport
import Testing

@Suite("MetricsPlugin", .tags(.concurrent), .realTime, .watched)
struct MetricsPluginTests {
    private struct Teapot: Error {}

    private let metrics = TestMetrics()
    private let clock = ManualClock()

    private var plugin: MetricsPlugin { MetricsPlugin(factory: metrics) }

    private let again = PluginStack.intercept(name: "Again") { request, _, next in
        let response = try await next(request)
        return response.statusCode == 503 ? try await next(request) : response
    }

    @discardableResult
    private func send(
        _ ask: Ask = Ask(),
        to transport: ScriptedTransport,
        _ plugins: (any PluginType)...
    ) async -> Result<PipelineResponse, any Error> {
        let provider = Provider<Ask>(transport: transport, plugins: plugins, configuration: .init(clock: clock))
        do {
            return .success(try await provider.request(ask))
        } catch {
            return .failure(error)
        }
    }

    @Test("The plugin passes the conformance suite")
    func conformance() async {
        let violations = await PluginConformance { MetricsPlugin(factory: TestMetrics()) }.run()
        #expect(violations == [])
    }

    // MARK: Calls and exchanges

    @Test("A successful call counts as one call, one exchange and the bytes of both bodies")
    func success() async {
        let ask = Ask(method: .post, task: .requestData(Data("12345".utf8)))
        await send(ask, to: ScriptedTransport([.status(201, body: "123")]), plugin)
        #expect(metrics.totals == ["pipeline.calls POST a.test:443 status=201": 1])
        #expect(metrics.exchanges == ["POST a.test:443 status=201": 1])
        #expect(
            metrics.sizes == [
                "request.body.size POST a.test:443 status=201": [5],
                "response.body.size POST a.test:443 status=201": [3],
            ]
        )
        #expect(
            metrics.levels == [
                "pipeline.calls.active POST a.test:443": [1, 0], "http.client.active_requests POST a.test:443": [1, 0],
            ]
        )
    }

    @Test("What plugins did is counted by plugin and event, and their waits are timed")
    func annotations() async {
        let waiting = PluginStack.exchange { request, context, send in
            context.annotate("waited", by: RetryPlugin(), duration: .milliseconds(20))
            context.annotate("opened", by: RetryPlugin())
            return try await send(request)
        }
        await send(to: ScriptedTransport([.status(200)]), plugin, waiting)
        let events = metrics.counters.filter { $0.label == "pipeline.plugin.events" }
        let texts = events.map { counter in
            counter.dimensions.filter { $0.0.hasPrefix("pipeline.") }.map { "\($0.0)=\($0.1)" }.joined(separator: " ")
        }
        #expect(
            texts.sorted() == [
                "pipeline.plugin=RetryPlugin pipeline.event=opened",
                "pipeline.plugin=RetryPlugin pipeline.event=waited",
            ]
        )
        let waits = metrics.timers.filter { $0.label == "pipeline.plugin.wait" }
        #expect(waits.flatMap(\.values) == [20_000_000])
    }

    @Test("Retries and redirects are counted separately, and the call once, for the host of its first exchange")
    func retriesAndRedirects() async {
        let transport = ScriptedTransport([
            .status(503), .status(302, headers: [.location: "https://b.test/"]), .status(200),
        ])
        await send(to: transport, plugin, again)
        #expect(
            metrics.totals == [
                "pipeline.calls GET a.test:443 status=200": 1,
                "pipeline.retries GET a.test:443": 1,
                "pipeline.redirects GET b.test:443": 1,
            ]
        )
        #expect(
            metrics.exchanges == [
                "GET a.test:443 status=503 error=503": 1,
                "GET a.test:443 status=302": 1,
                "GET b.test:443 status=200": 1,
            ]
        )
    }

    @Test("The call and each exchange record a duration on the provider's clock")
    func durations() async throws {
        let transport = ScriptedTransport([
            .delayed(.milliseconds(30), .status(503)), .delayed(.milliseconds(12), .status(200)),
        ])
        let call = Task { await send(to: transport, plugin, again) }
        try await clock.advanceToNextSleeper()
        try await clock.advanceToNextSleeper()
        _ = await call.value
        #expect(metrics.durations == ["pipeline.call.duration GET a.test:443 status=200": [42_000_000]])
        #expect(
            metrics.histograms == [
                "request.duration GET a.test:443 status=503 error=503": [0.03],
                "request.duration GET a.test:443 status=200": [0.012],
            ]
        )
    }

    @Test("C14 The wait for a connection has its own duration if the transport reports it")
    func connectionWait() async throws {
        let transport = ScriptedTransport(
            always: .answer { request, context in
                context.report(.connectionAwaited)
                try await context.clock.sleep(for: .milliseconds(30))
                context.report(.connection())
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
        let call = Task { await send(to: transport, plugin) }
        try await clock.advanceToNextSleeper()
        _ = await call.value
        #expect(metrics.durations["pipeline.connection.wait GET a.test:443"] == [30_000_000])
    }

    @Test("Calls and exchanges are counted as active while they are in flight")
    func active() async throws {
        let transport = ScriptedTransport { request, _ in
            .delayed(.seconds(request.path == "/1" ? 1 : 2), .status(200))
        }
        let provider = Provider<Ask>(transport: transport, plugins: [plugin], configuration: .init(clock: clock))
        let calls = (1...2).map { number in Task { try await provider.request(Ask(path: "/\(number)")) } }
        try await clock.waitForSleepers(2)
        #expect(metrics.levels.values.allSatisfy { $0 == [1, 2] })
        try await clock.advanceToNextSleeper()
        _ = try? await calls[0].value
        #expect(metrics.levels.values.allSatisfy { $0 == [1, 2, 1] })
        #expect(metrics.levels.count == 2)
        calls[1].cancel()
        _ = try? await calls[1].value
        #expect(metrics.levels.values.allSatisfy { $0 == [1, 2, 1, 0] })
    }

    // MARK: Outcomes

    @Test(
        "A failure has its code as error.type and is passed on",
        arguments: [
            (PipelineError.Code.timeout(.attempt), "timeout.attempt"), (.connect(.refused), "connect.refused"),
            (.connectionLost, "connectionLost"), (.tls(.handshake), "tls.handshake"),
            (.limit(.bodyBytes), "limit.bodyBytes"),
            (PipelineError.Code(rawValue: "timeoutOfMine"), "_OTHER"),
            (PipelineError.Code(rawValue: "mine.17"), "_OTHER"),
        ]
    )
    func failures(code: PipelineError.Code, type: String) async {
        let result = await send(to: ScriptedTransport([.failure(code)]), plugin)
        #expect(throws: PipelineError.self) { try result.get() }
        #expect(metrics.totals == ["pipeline.calls GET a.test:443 error=\(type)": 1])
        #expect(metrics.exchanges == ["GET a.test:443 error=\(type)": 1])
    }

    @Test("A cancelled call counts as cancelled")
    func cancelled() async throws {
        let provider = Provider<Ask>(
            transport: ScriptedTransport(always: .delayed(.seconds(9), .status(200))),
            plugins: [plugin],
            configuration: .init(clock: clock)
        )
        let call = Task { try await provider.request(Ask()) }
        try await clock.waitForSleepers()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(metrics.totals["pipeline.calls GET a.test:443 error=cancelled"] == 1)
        #expect(metrics.levels.values.allSatisfy { $0 == [1, 0] })
    }

    @Test("A status of 400 or above is a failure of the exchange, and of the call unless its target accepts it")
    func unacceptable() async {
        for validation in [ValidationType.successCodes, .anyStatus, .customCodes([404])] {
            await send(Ask(validationType: validation), to: ScriptedTransport([.status(404)]), plugin)
        }
        await send(Ask(validationType: .customCodes([200])), to: ScriptedTransport([.status(204)]), plugin)
        #expect(
            metrics.totals == [
                "pipeline.calls GET a.test:443 status=404 error=404": 2,
                "pipeline.calls GET a.test:443 status=404": 1,
                "pipeline.calls GET a.test:443 status=204 error=204": 1,
            ]
        )
        #expect(
            metrics.exchanges == ["GET a.test:443 status=404 error=404": 3, "GET a.test:443 status=204": 1]
        )
    }

    @Test("A call that shares another call's exchange counts as joined, not as unsent")
    func joined() async throws {
        let clock = ManualClock()
        let deduplication = DeduplicationPlugin()
        let provider = Provider<Ask>(
            transport: ScriptedTransport(always: .delayed(.seconds(1), .status(200))),
            plugins: [plugin, deduplication],
            configuration: .init(clock: clock)
        )
        let calls = (0..<2).map { _ in Task { try await provider.request(Ask()) } }
        await eventually { deduplication.callerCount >= 2 }
        try await clock.advanceToNextSleeper()
        for call in calls { _ = try await call.value }
        #expect(
            metrics.totals == [
                "pipeline.calls GET a.test:443 status=200": 2,
                "pipeline.calls.joined GET a.test:443": 1,
            ]
        )
        #expect(metrics.exchanges == ["GET a.test:443 status=200": 1])
    }

    @Test("A call whose response comes from a plugin counts as unsent and has no exchange")
    func unsent() async {
        let own = PluginStack.intercept { request, _, _ in PipelineResponse(request: request, statusCode: 200) }
        await send(to: ScriptedTransport([]), plugin, own)
        #expect(
            metrics.totals == [
                "pipeline.calls GET a.test:443 status=200": 1,
                "pipeline.calls.unsent GET a.test:443": 1,
            ]
        )
    }

    @Test("Calls that a cache handled are counted by the way in which it did")
    func cached() async {
        let transport = ScriptedTransport(always: .status(200, headers: [.cacheControl: "max-age=60"]))
        let provider = Provider<Ask>(transport: transport, plugins: [plugin, CachePlugin()])
        for _ in 1...3 { _ = try? await provider.request(Ask()) }
        #expect(
            metrics.totals == [
                "pipeline.calls GET a.test:443 status=200": 3,
                "pipeline.calls.unsent GET a.test:443": 2,
                "pipeline.calls.cached GET a.test:443 pipeline.cache=miss": 1,
                "pipeline.calls.cached GET a.test:443 pipeline.cache=hit": 2,
            ]
        )
        #expect(metrics.exchanges == ["GET a.test:443 status=200": 1])
    }

    @Test("A call with an invalid request is counted, and a call that a plugin refuses is not unsent")
    func neverSent() async {
        await send(Ask(url: "file:///etc"), to: ScriptedTransport([]), plugin)
        await send(to: ScriptedTransport([]), plugin, .prepare { _, _ in throw Teapot() })
        #expect(
            metrics.totals == [
                "pipeline.calls GET error=invalidRequest.scheme": 1,
                "pipeline.calls GET a.test:443 error=plugin": 1,
            ]
        )
    }

    // MARK: Bytes

    @Test("A streamed body is passed on unread and not counted, and its call ends with it")
    func streams() async throws {
        let chunks = AsyncStream<Data> { continuation in
            continuation.yield(Data(count: 7))
            continuation.finish()
        }
        let transport = ScriptedTransport([.status(200, body: .stream(chunks, byteCount: 7))])
        let provider = Provider<Ask>(transport: transport, plugins: [plugin], configuration: .init(clock: clock))
        let response = try await provider.stream(Ask())
        #expect(metrics.totals.keys.contains { $0.hasPrefix("pipeline.calls ") } == false)
        #expect(metrics.levels["pipeline.calls.active GET a.test:443"] == [1])
        for try await _ in response.body {}
        #expect(metrics.totals["pipeline.calls GET a.test:443 status=200"] == 1)
        #expect(metrics.sizes.isEmpty)
        #expect(metrics.levels["pipeline.calls.active GET a.test:443"] == [1, 0])
    }

    private func stream(_ text: String) -> PipelineBody {
        .stream(
            AsyncStream<Data> { continuation in
                continuation.yield(Data(text.utf8))
                continuation.finish()
            },
            byteCount: text.utf8.count
        )
    }

    @Test("Each exchange of a hop counts, and an attempt with several exchanges is one retry")
    func exchangesOfHop() async {
        let twice = PluginStack.exchange { request, context, send in
            let first = try await send(request)
            guard context.attempt == 2 else { return first }
            let second = try await send(request)
            #expect(first.statusCode == 500)
            return second
        }
        let transport = ScriptedTransport([
            .status(503, body: stream("1")), .status(500, body: stream("22")), .status(200, body: stream("333")),
        ])
        await send(to: transport, plugin, again, twice)
        #expect(
            metrics.totals == [
                "pipeline.calls GET a.test:443 status=200": 1,
                "pipeline.retries GET a.test:443": 1,
            ]
        )
        #expect(
            metrics.exchanges == [
                "GET a.test:443 status=503 error=503": 1,
                "GET a.test:443 status=500 error=500": 1,
                "GET a.test:443 status=200": 1,
            ]
        )
        #expect(
            metrics.sizes == [
                "response.body.size GET a.test:443 status=503 error=503": [1],
                "response.body.size GET a.test:443 status=500 error=500": [2],
                "response.body.size GET a.test:443 status=200": [3],
            ]
        )
        #expect(metrics.levels["http.client.active_requests GET a.test:443"] == [1, 0, 1, 2, 1, 0])
    }

    @Test("A download counts its Content-Length, even in a stack with exchange plugins")
    func downloadOfHop() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "metrics-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let passing = PluginStack.exchange { request, _, send in try await send(request) }
        let step = ScriptedTransport.Step.status(200, headers: [.contentLength: "5"], body: stream("12345"))
        await send(Ask(task: .downloadDestination(.file(file))), to: ScriptedTransport([step]), plugin, passing)
        #expect(metrics.sizes == ["response.body.size GET a.test:443 status=200": [5]])
    }

    @Test("Shared work that outlives its first call leaves no call counted as active")
    func sharedWork() async throws {
        let (gate, opener) = AsyncStream.makeStream(of: Never.self)
        let waiting = PluginStack.prepare { _, _ in for await _ in gate {} }
        let sharing = DeduplicationPlugin()
        let provider = Provider<Ask>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [sharing, waiting, plugin],
            configuration: .init(clock: clock)
        )
        let leader = Task { try await provider.request(Ask()) }
        await eventually { sharing.callerCount == 1 }
        let follower = Task { try await provider.request(Ask()) }
        await eventually { sharing.callerCount == 2 }
        leader.cancel()
        _ = await leader.result
        opener.finish()
        _ = try await follower.value
        #expect(metrics.levels.values.allSatisfy { $0.last == 0 })
    }

    @Test("The outcome is the caller's: a body that cannot be decoded is a mapping failure")
    func decoding() async {
        struct Item: Decodable { let id: Int }
        let provider = Provider<Ask>(
            transport: ScriptedTransport([.status(200, body: "{}")]),
            plugins: [plugin],
            configuration: .init(clock: clock)
        )
        await #expect(throws: PipelineError.self) { try await provider.request(Ask(), as: Item.self) }
        #expect(metrics.totals["pipeline.calls GET a.test:443 status=200 error=mapping.object"] == 1)
    }

    @Test("A call cancelled before it begins is counted, but never as active")
    func cancelledBefore() async {
        let provider = Provider<Ask>(
            transport: ScriptedTransport([]),
            plugins: [plugin],
            configuration: .init(clock: clock)
        )
        await withTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask { _ = try? await provider.request(Ask()) }
        }
        #expect(metrics.totals.values.reduce(0, +) == 1)
        #expect(metrics.totals.keys.allSatisfy { $0.hasSuffix("error=cancelled") })
        #expect(metrics.levels.isEmpty)
    }

    @Test("A resumed download counts only the bytes that it receives")
    func resumedDownload() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "metrics-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let destination = DownloadDestination.file(folder.appending(path: "done"))
        let ask = Ask(task: .downloadDestination(destination.resumable(at: folder.appending(path: "part"))))
        let begun = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(Data("0123".utf8))
            continuation.finish(throwing: PipelineError(.connectionLost, "by script"))
        }
        let rest: HTTPFields = [.eTag: "\"v1\"", .contentRange: "bytes 4-9/10", .contentLength: "6"]
        let transport = ScriptedTransport([
            .status(200, headers: [.eTag: "\"v1\""], body: .stream(begun, byteCount: 10)),
            .status(206, headers: rest, body: "456789"),
        ])
        for _ in 1...2 { await send(ask, to: transport, plugin) }
        #expect(transport.sent.count == 2)
        #expect(metrics.sizes["response.body.size GET a.test:443 status=206"] == [6])
    }

    @Test("An uploaded file counts its length, and a download its Content-Length", arguments: [true, false])
    func files(isDownload: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "metrics-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "file")
        if isDownload {
            let body = PipelineBody.stream(
                AsyncStream {
                    $0.yield(Data(count: 6))
                    $0.finish()
                }
            )
            let transport = ScriptedTransport([.status(200, headers: [.contentLength: "6"], body: body)])
            _ = try await send(Ask(task: .downloadDestination(.file(file))), to: transport, plugin).get()
            #expect(metrics.sizes == ["response.body.size GET a.test:443 status=200": [6]])
        } else {
            try Data(count: 70).write(to: file)
            _ = try await send(
                Ask(method: .put, task: .uploadFile(file)),
                to: ScriptedTransport([.status(204)]),
                plugin
            ).get()
            #expect(metrics.sizes == ["request.body.size PUT a.test:443 status=204": [70]])
        }
    }

    // MARK: Position

    @Test(
        "Inside or outside a retry plugin, a call counts once and every exchange counts",
        arguments: [true, false]
    )
    func position(isInside: Bool) async throws {
        let transport = ScriptedTransport([
            .delayed(.seconds(1), .status(503)), .delayed(.seconds(1), .status(200)),
        ])
        let call = Task {
            isInside ? await send(to: transport, again, plugin) : await send(to: transport, plugin, again)
        }
        try await clock.advanceToNextSleeper()
        try await clock.advanceToNextSleeper()
        _ = await call.value
        let calls = metrics.totals.filter { $0.key.hasPrefix("pipeline.calls ") }.values.reduce(0, +)
        let exchanges = metrics.exchanges.values.reduce(0, +)
        #expect(calls == 1)
        #expect(metrics.levels["pipeline.calls.active GET a.test:443"] == [1, 0])
        #expect(exchanges == 2)
        let duration = metrics.durations["pipeline.call.duration GET a.test:443 status=200"]
        #expect(duration == [2_000_000_000])
    }

    @Test("The stack reports a second MetricsPlugin")
    func findings() {
        func described(_ plugins: any PluginType...) -> PipelineDescription {
            Provider<Ask>(transport: ScriptedTransport([]), plugins: plugins).explain()
        }
        let findings = described(plugin, MetricsPlugin(prefix: "other.", factory: metrics)).findings.map(\.message)
        #expect(findings.count { $0.contains("each exchange is measured twice") } == 1)
        #expect(described(plugin, again).hints.isEmpty)
        #expect(described(again, plugin).hints.isEmpty)
    }

    // MARK: The network

    @Test("Over loopback HTTP calls, exchanges and bytes are counted as they happen")
    func loopback() async throws {
        let server = try LoopbackServer { request in
            switch request.target {
            case "/moved": [.respond(307, headers: [("Location", "/here")], body: "gone")]
            default: [.respond(200, body: "hello")]
            }
        }
        defer { server.stop() }
        let provider = Provider<Ask>(transport: URLSessionTransport(), plugins: [plugin])
        let ask = Ask(url: server.url.absoluteString, path: "/moved", method: .put, task: .requestData(Data(count: 9)))
        #expect(try await provider.request(ask).data == Data("hello".utf8))
        let place = "PUT 127.0.0.1:\(server.port)"
        #expect(metrics.totals == ["pipeline.calls \(place) status=200": 1, "pipeline.redirects \(place)": 1])
        #expect(metrics.exchanges == ["\(place) status=307": 1, "\(place) status=200": 1])
        #expect(
            metrics.sizes == [
                "request.body.size \(place) status=307": [9],
                "request.body.size \(place) status=200": [9],
                "response.body.size \(place) status=307": [4],
                "response.body.size \(place) status=200": [5],
            ]
        )
        #expect(metrics.values(of: "url.scheme") == ["http"])
        #expect(metrics.durations.values.joined().allSatisfy { $0 > 0 })
    }
}
