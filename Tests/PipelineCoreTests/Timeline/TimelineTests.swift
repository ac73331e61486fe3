import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("The timeline of a call", .watched)
struct TimelineTests {
    private let clock = ManualClock()

    private func provider(
        _ transport: some Transport,
        _ plugins: [any PluginType] = [],
        timeline: Bool = true
    ) -> Provider<URLTarget> {
        Provider(transport: transport, plugins: plugins, configuration: .init(clock: clock, timeline: timeline))
    }

    /// Returns the response of a call while the clock moves on to each moment that a task waits for.
    private func advancing<Value: Sendable>(_ call: @escaping @Sendable () async throws -> Value) async throws -> Value
    {
        let clock = clock
        let pump = Task {
            while !Task.isCancelled {
                try await clock.waitForSleepers()
                clock.advanceIfAnyoneSleeps()
            }
        }
        defer { pump.cancel() }
        return try await call()
    }

    @Test("It shows each plugin on each pass, waits, exchanges, and what they led to")
    func tree() async throws {
        let provider = provider(
            ScriptedTransport([
                .delayed(.milliseconds(20), .status(503)), .delayed(.milliseconds(30), .status(200, body: "ok")),
            ]),
            [
                PluginStack.prepare(name: "A") { _, context in try await context.clock.sleep(for: .milliseconds(5)) },
                RetryPlugin(backoff: .constant(.milliseconds(100))),
                PluginStack.exchange(name: "B") { request, _, send in try await send(request) },
                PluginStack.willSend(name: "C") { _, _ in },
                PluginStack.process(name: "D") { _, context in
                    try? await context.recordSpan("checksum") { try await context.clock.sleep(for: .milliseconds(1)) }
                },
            ]
        )
        let timeline = try await advancing { try await provider.request(URLTarget("https://a.test/b?key=1")).timeline }
        let expected = """
               start  duration
                0.00    157.00  call GET https://a.test/b: 200
                0.00      0.00    encode URLTarget
                0.00      5.00    prepare A
                5.00    152.00    intercept RetryPlugin: 200
                5.00     20.00      exchange B: 503
                5.00      0.00        willSend C
                5.00     20.00        wire GET https://a.test/b: 503
               25.00      1.00      process D
               25.00      1.00        work checksum
               26.00    100.00      wait retry delay
              126.00     30.00      exchange B: 200
              126.00      0.00        willSend C
              126.00     30.00        wire GET https://a.test/b, attempt 2: 200
              156.00      1.00      process D
              156.00      1.00        work checksum
            """
        #expect(timeline?.description == expected)
        #expect(timeline?.spans.filter { $0.kind == .stage(.exchange) }.map(\.attempt) == [1, 2])
    }

    @Test("Contexts, exchanges and timelines count redirects from 1, and do not name the first request as one")
    func redirects() async throws {
        let contexts = Mutex<[String]>([])
        let observer = PluginStack.willSend { _, context in contexts.withLock { $0.append("\(context)") } }
        let steps: [ScriptedTransport.Step] = [.status(302, headers: [.location: "/c"]), .status(200)]
        let response = try await provider(ScriptedTransport(steps), [observer]).request(URLTarget("https://a.test/b"))
        #expect(contexts.withLock { $0 } == ["call 1, attempt 1", "call 1, attempt 1, redirect 1"])
        #expect(
            response.exchanges.map(\.description) == [
                "GET https://a.test/b, status 302, attempt 1, 0 ms",
                "GET https://a.test/c, status 200, attempt 1, redirect 1, 0 ms",
            ]
        )
        let timeline = try #require(response.timeline?.description)
        #expect(timeline.contains("wire GET https://a.test/b: 302"))
        #expect(timeline.contains("wire GET https://a.test/c, redirect 1: 200"))
    }

    @Test("Without the setting, nothing is recorded")
    func off() async throws {
        let outcomes = Mutex<[Timeline?]>([])
        let observer = PluginStack.didFinish(name: "O") { outcome, _ in
            outcomes.withLock { $0.append(outcome.timeline) }
        }
        let provider = provider(ScriptedTransport([.status(200), .failure(.offline)]), [observer], timeline: false)
        #expect(try await provider.request(URLTarget("https://a.test")).timeline == nil)
        let error = await #expect(throws: PipelineError.self) {
            try await provider.request(URLTarget("https://a.test"))
        }
        #expect(error?.timeline == nil)
        #expect(outcomes.withLock { $0.count } == 2)
        #expect(outcomes.withLock { $0.allSatisfy { $0 == nil } })
    }

    @Test("A failure has the timeline of its call, and the spans have the codes of their errors")
    func failure() async throws {
        let provider = provider(
            ScriptedTransport([.failure(.connectionLost)]),
            [PluginStack.intercept(name: "A") { request, _, next in try await next(request) }]
        )
        let error = await #expect(throws: PipelineError.self) {
            try await provider.request(URLTarget("https://a.test"))
        }
        let outcomes = error?.timeline?.spans.map { "\($0.kind.rawValue) \($0.outcome ?? "none")" }
        #expect(
            outcomes == ["call connectionLost", "encode none", "intercept connectionLost", "wire connectionLost"]
        )
    }

    @Test("A call that is refused before it begins has a timeline, too")
    func refusedCall() async throws {
        let inner = Provider<URLTarget>(
            transport: ScriptedTransport([]),
            plugins: [.prepare { _, _ in }],
            configuration: .init(limits: ProviderConfiguration.Limits(nestedCallCount: 1), clock: clock, timeline: true)
        )
        let refusal = Mutex<PipelineError?>(nil)
        let nesting = PluginStack.prepare { _, _ in
            do {
                _ = try await inner.request(URLTarget("https://b.test"))
            } catch {
                refusal.withLock { $0 = error as? PipelineError }
            }
        }
        _ = try await provider(ScriptedTransport([.status(200)]), [nesting]).request(URLTarget("https://a.test"))
        let error = refusal.withLock { $0 }
        #expect(error?.code == .limit(.nestedCalls))
        #expect(error?.timeline?.spans.map(\.kind) == [.call])
    }

    @Test("A refused request and a plugin's own error end the spans of the plugins around them")
    func refusal() async throws {
        struct Refusal: Error {}
        let provider = provider(
            ScriptedTransport([]),
            [
                PluginStack.process(name: "P") { _, _ in },
                PluginStack.prepare(name: "A") { _, _ in throw Refusal() },
            ]
        )
        let error = await #expect(throws: PipelineError.self) {
            try await provider.request(URLTarget("https://a.test"))
        }
        let spans = try #require(error?.timeline?.spans)
        #expect(spans.map(\.outcome) == ["plugin", nil, "Refusal", nil])
        #expect(spans.allSatisfy { $0.hasEnded })
    }

    @Test("The timeline of a stream grows until its body ends")
    func stream() async throws {
        let (body, pieces) = AsyncStream<Data>.makeStream()
        let provider = provider(ScriptedTransport([.status(200, body: .stream(body))]))
        let response = try await provider.stream(URLTarget("https://a.test"))
        let timeline = try #require(response.response.timeline)
        #expect(timeline.spans.map(\.hasEnded) == [false, true, false])
        clock.advance(by: .seconds(1))
        pieces.yield(Data("x".utf8))
        pieces.finish()
        for try await _ in response.body {}
        #expect(timeline.spans.map(\.name).suffix(1) == ["receive"])
        #expect(timeline.spans.allSatisfy { $0.hasEnded })
        #expect(timeline.spans.first?.duration == .seconds(1))
    }

    @Test("A stream that is released before its end ends its spans")
    func releasedStream() async throws {
        let (body, _) = AsyncStream<Data>.makeStream()
        let provider = provider(ScriptedTransport([.status(200, body: .stream(body))]))
        var response: StreamedResponse? = try await provider.stream(URLTarget("https://a.test"))
        let timeline = try #require(response?.response.timeline)
        response = nil
        #expect(timeline.spans.first { $0.kind == .wire }?.outcome == "released")
        #expect(timeline.spans.first?.outcome == "cancelled")
    }

    @Test("A stream whose reading stops ends its exchange, although the response is kept")
    func abandonedStream() async throws {
        let (body, pieces) = AsyncStream<Data>.makeStream()
        let provider = provider(ScriptedTransport([.status(200, body: .stream(body))]))
        let response = try await provider.stream(URLTarget("https://a.test"))
        pieces.yield(Data("x".utf8))
        for try await _ in response.body { break }
        let timeline = try #require(response.response.timeline)
        #expect(timeline.spans.allSatisfy { $0.hasEnded })
        #expect(timeline.spans.first { $0.kind == .wire }?.outcome == "released")
    }

    @Test("The stages of concurrent attempts have the right parents")
    func concurrent() async throws {
        let transport = ScriptedTransport { _, index in .delayed(.milliseconds(10 * (index + 1)), .status(200)) }
        let hedge = PluginStack.intercept(name: "H") { request, _, next in
            async let first = next(request)
            async let second = next(request)
            _ = try await second
            return try await first
        }
        let provider = provider(transport, [hedge, PluginStack.prepare(name: "P") { _, _ in }])
        let timeline = try await advancing { try await provider.request(URLTarget("https://a.test")).timeline }
        let spans = try #require(timeline?.spans)
        let intercept = try #require(spans.first { $0.kind == .stage(.intercept) })
        #expect(Set(spans.filter { $0.kind == .wire }.map(\.attempt)) == [1, 2])
        #expect(
            spans.filter { $0.kind == .wire || $0.kind == .stage(.prepare) }.allSatisfy { $0.parentID == intercept.id }
        )
    }

    @Test("A timeline has up to 1,000 spans and counts the others")
    func bound() async throws {
        let busy = PluginStack.prepare(name: "A") { _, context in
            for _ in 0..<1_200 { await context.recordSpan("x") {} }
        }
        let timeline = try await provider(ScriptedTransport([.status(200)]), [busy])
            .request(URLTarget("https://a.test")).timeline
        #expect(timeline?.spans.count == 1_000)
        // The call, its encoding and the plugin are recorded; the exchange is not.
        #expect(timeline?.droppedSpanCount == 204)
        #expect(timeline?.description.hasSuffix("204 more spans were not recorded") == true)
        #expect(timeline?.spans.first?.outcome == "200")
    }

    @Test("A value that does not decode is a span with its error, in the outcome that plugins see")
    func decoding() async throws {
        let outcomes = Mutex<[String]>([])
        let observer = PluginStack.didFinish(name: "O") { outcome, _ in
            let spans = outcome.timeline?.spans.filter { $0.kind == .decode } ?? []
            outcomes.withLock { $0 += spans.map { "\($0.name) \($0.outcome ?? "decoded")" } }
        }
        let provider = provider(
            ScriptedTransport([.status(200, body: "[1]"), .status(200, body: "{")]),
            [observer]
        )
        _ = try await provider.request(URLTarget("https://a.test"), as: [Int].self)
        await #expect(throws: PipelineError.self) {
            try await provider.request(URLTarget("https://a.test"), as: [Int].self)
        }
        #expect(outcomes.withLock { $0 } == ["Array<Int> decoded", "Array<Int> mapping.object"])
    }

    @Test("A background call has a timeline of its own")
    func background() async throws {
        let calls = Mutex<[String]>([])
        let observer = PluginStack.didFinish(name: "O") { outcome, context in
            let kinds = outcome.timeline?.spans.map(\.kind.rawValue).joined(separator: " ") ?? "none"
            calls.withLock { $0.append("\(context.callID): \(kinds)") }
        }
        let refresher = PluginStack.intercept(name: "R") { request, _, next in
            next.startBackgroundCall(request) { _ in }
            return try await next(request)
        }
        let provider = provider(ScriptedTransport(always: .status(200)), [observer, refresher])
        _ = try await provider.request(URLTarget("https://a.test"))
        await provider.drain(within: .seconds(1))
        #expect(calls.withLock { $0.sorted() } == ["1: call encode intercept wire", "2: call wire"])
    }
}
