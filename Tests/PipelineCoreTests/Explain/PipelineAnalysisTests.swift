import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("What a stack costs", .watched)
struct PipelineAnalysisTests {
    private let clock = ManualClock()
    private let target = URLTarget("https://a.test/b?key=1")

    private func provider(_ transport: some Transport, _ plugins: [any PluginType]) -> Provider<URLTarget> {
        Provider(transport: transport, plugins: plugins, configuration: .init(clock: clock))
    }

    /// Returns the analysis of a stack in virtual time.
    private func analysis(
        _ transport: some Transport,
        _ plugins: [any PluginType],
        rounds: Int = 3,
        allocations: PipelineAnalysis.AllocationCounter? = nil
    ) async throws -> PipelineAnalysis {
        let (clock, target, provider) = (clock, target, provider(transport, plugins))
        return try await clock.run {
            try await provider.explain(
                running: target,
                rounds: rounds,
                allocations: allocations,
                clock: PipelineClock(clock)
            )
        }
    }

    /// Returns an interceptor that waits before and after what is inside it.
    private func waiting(_ name: String, _ before: Int, _ after: Int) -> any PluginType {
        PluginStack.intercept(name: name) { request, context, next in
            try await context.clock.sleep(for: .milliseconds(before))
            let response = try await next(request)
            try await context.clock.sleep(for: .milliseconds(after))
            return response
        }
    }

    private let late = ScriptedTransport(always: .delayed(.milliseconds(20), .status(200, body: "ok")))

    @Test("The time of a plugin excludes what runs inside it, and the rows add up to the total")
    func time() async throws {
        let analysis = try await analysis(
            late,
            [
                PluginStack.prepare(name: "A") { _, context in try await context.clock.sleep(for: .milliseconds(5)) },
                waiting("B", 2, 3),
                waiting("C", 0, 1),
                PluginStack.exchange(name: "D") { request, context, send in
                    let response = try await send(request)
                    try await context.clock.sleep(for: .milliseconds(4))
                    return response
                },
                PluginStack.process(name: "E") { _, context in
                    try? await context.recordSpan("checksum") { try await context.clock.sleep(for: .milliseconds(6)) }
                },
            ]
        )
        #expect(analysis.plugins.map(\.name) == ["A", "B", "C", "D", "E"])
        #expect(analysis.plugins.map(\.duration) == [5, 5, 1, 4, 6].map { .milliseconds($0) })
        #expect(analysis.plugins.map(\.runs) == [1, 1, 1, 1, 1])
        #expect(analysis.exchanges.duration == .milliseconds(20))
        #expect(analysis.core.duration == .zero)
        #expect(analysis.core.runs == 0)
        #expect(analysis.total.duration == .milliseconds(41))
        #expect(analysis.transport.duration == .milliseconds(20))
        #expect(analysis.overhead.duration == .milliseconds(21))
        #expect(analysis["E"][.process].share == 6.0 / 41)
        #expect(analysis["B"][.intercept].duration == .milliseconds(5))
        #expect(!analysis.countsAllocations)
    }

    @Test("A provider of several APIs takes any target")
    func anyTarget() async throws {
        let provider = Provider<MultiTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [PluginStack.prepare(name: "A") { _, _ in }]
        )
        let analysis = try await provider.explain(running: target, rounds: 1)
        #expect(analysis["A"][.prepare].runs == 1)
        #expect(analysis.description.hasPrefix("GET https://a.test/b"))
    }

    @Test("Each attempt counts as a run, and the time before a retry as a wait")
    func runs() async throws {
        let transport = ScriptedTransport(
            always: .answer { request, context in
                PipelineResponse(request: request, statusCode: context.attempt == 1 ? 503 : 200)
            }
        )
        let analysis = try await analysis(
            transport,
            [
                RetryPlugin(backoff: .constant(.milliseconds(100))),
                PluginStack.prepare(name: "P") { _, _ in },
                PluginStack.exchange(name: "X") { request, _, send in try await send(request) },
                PluginStack.willSend(name: "W") { _, _ in },
                PluginStack.didReceive(name: "R") { _, _ in },
                PluginStack.didFinish(name: "F") { _, _ in },
            ]
        )
        #expect(analysis.plugins.map(\.runs) == [1, 2, 2, 2, 2, 1])
        #expect(analysis.exchanges.runs == 2)
        #expect(analysis.transport.runs == 1)
        #expect(analysis["RetryPlugin"].wait == .milliseconds(100))
        #expect(analysis["RetryPlugin"].duration == .milliseconds(100))
    }

    @Test("The pieces of a body count as the exchange, although a plugin has returned before they are read")
    func stream() async throws {
        let clock = clock
        let transport = ScriptedTransport(
            always: .answer { request, _ in
                let body = PipelineBody.stream {
                    AsyncThrowingStream<Data, any Error> {
                        try await clock.sleep(for: .milliseconds(10))
                        return clock.now.offset.components.attoseconds % 30_000_000_000_000_000 == 0 ? nil : Data([1])
                    }
                }
                return PipelineResponse(request: request, head: .init(status: .ok), body: body)
            }
        )
        let pass = PluginStack.exchange(name: "X") { request, context, send in
            try await context.clock.sleep(for: .milliseconds(30))
            return try await send(request)
        }
        let analysis = try await analysis(transport, [pass])
        #expect(analysis["X"].duration == .milliseconds(30))
        #expect(analysis.exchanges.duration == .milliseconds(30))
        #expect(analysis.exchanges.runs == 1)
        #expect(analysis.total.duration == .milliseconds(60))
        #expect(analysis.transport.duration == .milliseconds(30))
    }

    @Test("The time of concurrent exchanges is not the time of the plugin that sends them")
    func concurrent() async throws {
        let hedge = PluginStack.intercept(name: "H") { request, _, next in
            async let first = next(request)
            async let second = next(request)
            _ = try await second
            return try await first
        }
        let analysis = try await analysis(late, [hedge], rounds: 1)
        #expect(analysis["H"].duration == .zero)
        #expect(analysis.exchanges.runs == 2)
        #expect(analysis.total.duration == .milliseconds(20))
    }

    @Test("Each round sends three requests, after one round as a warm-up")
    func requests() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let calls = Mutex(0)
        let observer = PluginStack.didFinish(name: "F") { _, _ in calls.withLock { $0 += 1 } }
        _ = try await analysis(transport, [observer], rounds: 4)
        #expect(transport.sent.count == 15)
        #expect(calls.withLock { $0 } == 10)
    }

    @Test("A call that fails ends the analysis with its error")
    func failure() async throws {
        let transport = ScriptedTransport { _, index in index < 4 ? .status(200) : .failure(.connectionLost) }
        let error = await #expect(throws: PipelineError.self) { try await analysis(transport, []) }
        #expect(error?.code == .connectionLost)
        #expect(error?.timeline == nil)
        #expect(transport.sent.count == 5)
    }

    @Test("A stack that sends no request has no exchange")
    func noExchange() async throws {
        let cached = PluginStack.intercept(name: "C") { request, context, _ in
            try await context.clock.sleep(for: .milliseconds(1))
            return PipelineResponse(request: request, statusCode: 200)
        }
        let analysis = try await analysis(ScriptedTransport([]), [cached])
        #expect(analysis.exchanges.runs == 0)
        #expect(analysis.transport.duration == .zero)
        #expect(analysis.overhead.duration == .milliseconds(1))
    }

    @Test("A body that cannot be replayed is refused")
    func singleUse() async throws {
        let once = PluginStack.prepare(name: "P") { request, _ in
            request.body = .stream(AsyncStream<Data> { $0.finish() })
        }
        let error = await #expect(throws: PipelineError.self) {
            try await analysis(ScriptedTransport(always: .status(200)), [once])
        }
        #expect(error?.code == .bodyConsumed)
    }

    @Test("Plugins see no timeline in an analysis, and its times are real")
    func hidden() async throws {
        let seen = Mutex<[Bool]>([])
        let plugins: [any PluginType] = [
            PluginStack.prepare(name: "P") { _, context in seen.withLock { $0.append(context.timeline == nil) } },
            PluginStack.didFinish(name: "F") { outcome, _ in seen.withLock { $0.append(outcome.timeline == nil) } },
        ]
        let analysis = try await provider(ScriptedTransport(always: .status(200)), plugins).explain(
            running: target,
            rounds: 1
        )
        #expect(seen.withLock { $0 } == Array(repeating: true, count: 8))
        #expect(analysis.total.duration > .zero)
        #expect(analysis.yardstick > 0)
        #expect(analysis.total.yardsticks > 0)
    }

    @Test("A stack may have as many interceptors as without an analysis")
    func manyInterceptors() async throws {
        let plugins = (1...64).map { waiting("I\($0)", 1, 0) }
        let analysis = try await analysis(ScriptedTransport(always: .status(200)), plugins, rounds: 1)
        #expect(analysis.plugins.map(\.duration) == Array(repeating: .milliseconds(1), count: 64))
    }

    @Test("The work of a background call ends before the next call begins")
    func background() async throws {
        let running = Mutex((now: 0, most: 0))
        let refresher = PluginStack.intercept(name: "R") { request, _, next in
            running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            next.startBackgroundCall(request) { _ in running.withLock { $0.now -= 1 } }
            return try await next(request)
        }
        _ = try await analysis(late, [refresher])
        #expect(running.withLock { $0.now } == 0)
        #expect(running.withLock { $0.most } == 1)
    }
}
