#if Metrics
import Foundation
import HTTPTypes
import Metrics
import MetricsTestKit
import Pipeline
import PipelinePlugins
import PipelineTesting
import PipelineTransports
import TestSupport
import Testing

@Suite("MetricsPlugin", .tags(.concurrent))
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
        #expect(
            metrics.totals == [
                "pipeline.calls method=POST host=a.test status=2xx outcome=success": 1,
                "pipeline.exchanges method=POST host=a.test status=2xx outcome=success": 1,
                "pipeline.sent.bytes method=POST host=a.test": 5,
                "pipeline.received.bytes method=POST host=a.test": 3,
            ]
        )
        #expect(metrics.levels == ["pipeline.calls.active": [1, 0], "pipeline.exchanges.active": [1, 0]])
    }

    @Test("Retries and redirects are counted separately, and the call once, for the host of its first exchange")
    func retriesAndRedirects() async {
        let transport = ScriptedTransport([
            .status(503), .status(302, headers: [.location: "https://b.test/"]), .status(200),
        ])
        await send(to: transport, plugin, again)
        #expect(
            metrics.totals == [
                "pipeline.calls method=GET host=a.test status=2xx outcome=success": 1,
                "pipeline.exchanges method=GET host=a.test status=5xx outcome=success": 1,
                "pipeline.exchanges method=GET host=a.test status=3xx outcome=success": 1,
                "pipeline.exchanges method=GET host=b.test status=2xx outcome=success": 1,
                "pipeline.retries method=GET host=a.test": 1,
                "pipeline.redirects method=GET host=b.test": 1,
            ]
        )
    }

    @Test("The call and each exchange record a duration in nanoseconds on the provider's clock")
    func durations() async {
        let transport = ScriptedTransport([
            .delayed(.milliseconds(30), .status(503)), .delayed(.milliseconds(12), .status(200)),
        ])
        let call = Task { await send(to: transport, plugin, again) }
        await clock.advanceToNextSleeper()
        await clock.advanceToNextSleeper()
        _ = await call.value
        #expect(
            metrics.durations == [
                "pipeline.call.duration method=GET host=a.test status=2xx outcome=success": [42_000_000],
                "pipeline.exchange.duration method=GET host=a.test status=5xx outcome=success": [30_000_000],
                "pipeline.exchange.duration method=GET host=a.test status=2xx outcome=success": [12_000_000],
            ]
        )
    }

    @Test("C14 The wait for a connection has its own duration if the transport reports it")
    func connectionWait() async {
        let transport = ScriptedTransport(
            always: .answer { request, context in
                context.reportConnectionWait()
                try await context.clock.sleep(for: .milliseconds(30))
                context.reportConnection()
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
        let call = Task { await send(to: transport, plugin) }
        await clock.advanceToNextSleeper()
        _ = await call.value
        #expect(metrics.durations["pipeline.connection.wait method=GET host=a.test"] == [30_000_000])
    }

    @Test("Calls and exchanges are counted as active while they are in flight")
    func active() async {
        let transport = ScriptedTransport { request, _ in
            .delayed(.seconds(request.path == "/1" ? 1 : 2), .status(200))
        }
        let provider = Provider<Ask>(transport: transport, plugins: [plugin], configuration: .init(clock: clock))
        let calls = (1...2).map { number in Task { try await provider.request(Ask(path: "/\(number)")) } }
        await clock.waitForSleepers(2)
        #expect(metrics.levels == ["pipeline.calls.active": [1, 2], "pipeline.exchanges.active": [1, 2]])
        await clock.advanceToNextSleeper()
        _ = try? await calls[0].value
        #expect(metrics.levels == ["pipeline.calls.active": [1, 2, 1], "pipeline.exchanges.active": [1, 2, 1]])
        calls[1].cancel()
        _ = try? await calls[1].value
        #expect(metrics.levels.values.allSatisfy { $0 == [1, 2, 1, 0] })
    }

    // MARK: Outcomes

    @Test(
        "A failure is counted by its kind and passed on",
        arguments: [
            (PipelineError.Code.timeout(.attempt), "timeout"), (.connect(.refused), "connect"),
            (.connectionLost, "connectionLost"), (.tls(.handshake), "tls"), (.limit(.bodyBytes), "limit"),
            (PipelineError.Code(rawValue: "timeoutOfMine"), "other"),
            (PipelineError.Code(rawValue: "mine.17"), "other"),
        ]
    )
    func failures(code: PipelineError.Code, outcome: String) async {
        let result = await send(to: ScriptedTransport([.failure(code)]), plugin)
        #expect(throws: PipelineError.self) { try result.get() }
        #expect(
            metrics.totals == [
                "pipeline.calls method=GET host=a.test status=none outcome=\(outcome)": 1,
                "pipeline.exchanges method=GET host=a.test status=none outcome=\(outcome)": 1,
            ]
        )
    }

    @Test("A cancelled call counts as cancelled")
    func cancelled() async {
        let provider = Provider<Ask>(
            transport: ScriptedTransport(always: .delayed(.seconds(9), .status(200))),
            plugins: [plugin],
            configuration: .init(clock: clock)
        )
        let call = Task { try await provider.request(Ask()) }
        await clock.waitForSleepers()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(metrics.totals["pipeline.calls method=GET host=a.test status=none outcome=cancelled"] == 1)
        #expect(metrics.levels.values.allSatisfy { $0 == [1, 0] })
    }

    @Test("A status that the target does not accept is a failure of the call and a success of the exchange")
    func unacceptable() async {
        await send(Ask(validationType: .successCodes), to: ScriptedTransport([.status(404)]), plugin)
        await send(Ask(), to: ScriptedTransport([.status(404)]), plugin)
        #expect(
            metrics.totals == [
                "pipeline.calls method=GET host=a.test status=4xx outcome=unacceptableStatus": 1,
                "pipeline.calls method=GET host=a.test status=4xx outcome=success": 1,
                "pipeline.exchanges method=GET host=a.test status=4xx outcome=success": 2,
            ]
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
        await clock.advanceToNextSleeper()
        for call in calls { _ = try await call.value }
        #expect(
            metrics.totals == [
                "pipeline.calls method=GET host=a.test status=2xx outcome=success": 2,
                "pipeline.calls.joined method=GET host=a.test": 1,
                "pipeline.exchanges method=GET host=a.test status=2xx outcome=success": 1,
            ]
        )
    }

    @Test("A call whose response comes from a plugin counts as unsent and has no exchange")
    func unsent() async {
        let own = PluginStack.intercept { request, _, _ in PipelineResponse(request: request, statusCode: 200) }
        await send(to: ScriptedTransport([]), plugin, own)
        #expect(
            metrics.totals == [
                "pipeline.calls method=GET host=a.test status=2xx outcome=success": 1,
                "pipeline.calls.unsent method=GET host=a.test": 1,
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
                "pipeline.calls method=GET host=a.test status=2xx outcome=success": 3,
                "pipeline.calls.unsent method=GET host=a.test": 2,
                "pipeline.calls.cached method=GET host=a.test cache=miss": 1,
                "pipeline.calls.cached method=GET host=a.test cache=hit": 2,
                "pipeline.exchanges method=GET host=a.test status=2xx outcome=success": 1,
            ]
        )
    }

    @Test("A call with an invalid request is counted, and a call that a plugin refuses is not unsent")
    func neverSent() async {
        await send(Ask(url: "file:///etc"), to: ScriptedTransport([]), plugin)
        await send(to: ScriptedTransport([]), plugin, .prepare { _, _ in throw Teapot() })
        #expect(
            metrics.totals == [
                "pipeline.calls method=GET host=none status=none outcome=invalidRequest": 1,
                "pipeline.calls method=GET host=a.test status=none outcome=plugin": 1,
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
        #expect(metrics.levels["pipeline.calls.active"] == [1])
        for try await _ in response.body {}
        #expect(metrics.totals["pipeline.calls method=GET host=a.test status=2xx outcome=success"] == 1)
        #expect(metrics.totals.keys.contains { $0.contains("bytes") } == false)
        #expect(metrics.levels["pipeline.calls.active"] == [1, 0])
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
                "pipeline.calls method=GET host=a.test status=2xx outcome=success": 1,
                "pipeline.exchanges method=GET host=a.test status=5xx outcome=success": 2,
                "pipeline.exchanges method=GET host=a.test status=2xx outcome=success": 1,
                "pipeline.retries method=GET host=a.test": 1,
                "pipeline.received.bytes method=GET host=a.test": 6,
            ]
        )
        #expect(metrics.levels["pipeline.exchanges.active"] == [1, 0, 1, 2, 1, 0])
    }

    @Test("A download counts its Content-Length, even in a stack with exchange plugins")
    func downloadOfHop() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "metrics-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let passing = PluginStack.exchange { request, _, send in try await send(request) }
        let step = ScriptedTransport.Step.status(200, headers: [.contentLength: "5"], body: stream("12345"))
        await send(Ask(task: .downloadDestination(.file(file))), to: ScriptedTransport([step]), plugin, passing)
        #expect(metrics.totals["pipeline.received.bytes method=GET host=a.test"] == 5)
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
        #expect(metrics.levels["pipeline.calls.active"]?.last ?? 0 == 0)
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
        #expect(metrics.totals["pipeline.calls method=GET host=a.test status=2xx outcome=mapping"] == 1)
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
        #expect(metrics.totals.keys.allSatisfy { $0.hasSuffix("outcome=cancelled") })
        #expect(metrics.levels["pipeline.calls.active"] == nil)
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
        #expect(metrics.totals["pipeline.received.bytes method=GET host=a.test"] == 6)
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
            #expect(metrics.totals["pipeline.received.bytes method=GET host=a.test"] == 6)
        } else {
            try Data(count: 70).write(to: file)
            _ = try await send(
                Ask(method: .put, task: .uploadFile(file)),
                to: ScriptedTransport([.status(204)]),
                plugin
            ).get()
            #expect(metrics.totals["pipeline.sent.bytes method=PUT host=a.test"] == 70)
        }
    }

    // MARK: Position

    @Test(
        "Inside or outside a retry plugin, a call counts once and every exchange counts",
        arguments: [true, false]
    )
    func position(isInside: Bool) async {
        let transport = ScriptedTransport([
            .delayed(.seconds(1), .status(503)), .delayed(.seconds(1), .status(200)),
        ])
        let call = Task {
            isInside ? await send(to: transport, again, plugin) : await send(to: transport, plugin, again)
        }
        await clock.advanceToNextSleeper()
        await clock.advanceToNextSleeper()
        _ = await call.value
        let calls = metrics.totals.filter { $0.key.hasPrefix("pipeline.calls ") }.values.reduce(0, +)
        let exchanges = metrics.totals.filter { $0.key.hasPrefix("pipeline.exchanges ") }.values.reduce(0, +)
        #expect(calls == 1)
        #expect(metrics.levels["pipeline.calls.active"] == [1, 0])
        #expect(exchanges == 2)
        let duration = metrics.durations["pipeline.call.duration method=GET host=a.test status=2xx outcome=success"]
        #expect(duration == [2_000_000_000])
    }

    @Test("The stack reports two plugins with the same prefix")
    func findings() {
        func described(_ plugins: any PluginType...) -> PipelineDescription {
            Provider<Ask>(transport: ScriptedTransport([]), plugins: plugins).explain()
        }
        let other = MetricsPlugin(prefix: "other.", factory: metrics)
        #expect(described(plugin, plugin).findings.map(\.message).filter { $0.contains("pipeline.") }.count == 1)
        #expect(described(plugin, other).findings.isEmpty)
        #expect(described(plugin, again).notes.isEmpty)
        #expect(described(again, plugin).notes.isEmpty)
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
        #expect(
            metrics.totals == [
                "pipeline.calls method=PUT host=127.0.0.1 status=2xx outcome=success": 1,
                "pipeline.exchanges method=PUT host=127.0.0.1 status=3xx outcome=success": 1,
                "pipeline.exchanges method=PUT host=127.0.0.1 status=2xx outcome=success": 1,
                "pipeline.redirects method=PUT host=127.0.0.1": 1,
                "pipeline.sent.bytes method=PUT host=127.0.0.1": 18,
                "pipeline.received.bytes method=PUT host=127.0.0.1": 9,
            ]
        )
        #expect(metrics.durations.values.joined().allSatisfy { $0 > 0 })
    }
}
#endif
