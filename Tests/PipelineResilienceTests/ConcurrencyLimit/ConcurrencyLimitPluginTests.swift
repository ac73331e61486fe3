import Foundation
import Pipeline
import PipelineCaching
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("ConcurrencyLimitPlugin", .tags(.concurrent), .watched)
struct ConcurrencyLimitPluginTests {
    private let clock = ManualClock()

    private func provider(_ transport: any Transport, _ plugins: any PluginType...) -> Provider<Ask> {
        Provider(transport: transport, plugins: plugins, configuration: .init(clock: clock))
    }

    /// A transport that responds after a second.
    private func slow(_ status: Int = 200, headers: HTTPFields = [:]) -> ScriptedTransport {
        ScriptedTransport(always: .delayed(.seconds(1), .status(status, headers: headers)))
    }

    private func ask(_ priority: TrafficPriority = .normal, host: String = "a") -> Ask {
        Ask(url: "https://\(host).test", options: .init { $0.priority = priority })
    }

    /// Makes calls one after another at the same moment, and returns the seconds after which each ended with what.
    private func run(_ asks: [Ask], _ provider: Provider<Ask>) async -> [String] {
        let results = Results<(Int, String)>()
        await clock.run {
            await withTaskGroup(of: Void.self) { group in
                for (index, ask) in asks.enumerated() {
                    group.addTask {
                        let outcome: String
                        do {
                            outcome = "\(try await provider.request(ask).statusCode)"
                        } catch {
                            outcome = (error as? PipelineError)?.code.rawValue ?? "\(error)"
                        }
                        results.add((index, "\(outcome) at \(Int(clock.now.offset / .seconds(1)))"))
                    }
                }
            }
        }
        return results.all.sorted { $0.0 < $1.0 }.map(\.1)
    }

    @Test("The plugin passes the conformance suite", arguments: [ConcurrencyLimit.fixed(1), .fixed(100), .adaptive()])
    func conformance(limit: ConcurrencyLimit) async {
        let violations = await PluginConformance { ConcurrencyLimitPlugin(limit) }.run()
        #expect(violations == [])
    }

    // MARK: Effects

    @Test("At most as many requests as there are permits are in progress, for each authority")
    func permits() async {
        let provider = provider(slow(), ConcurrencyLimitPlugin(.fixed(2)))
        let asks = [ask(), ask(), ask(), ask(), ask(), ask(host: "b")]
        #expect(await run(asks, provider) == ["200 at 1", "200 at 1", "200 at 2", "200 at 2", "200 at 3", "200 at 1"])
    }

    @Test("Calls of one partition share a limit, whatever their host")
    func partitions() async {
        let shared = provider(slow(), ConcurrencyLimitPlugin(.fixed(1), partition: .shared))
        #expect(await run([ask(), ask(host: "b")], shared) == ["200 at 1", "200 at 2"])
        let byPath = ConcurrencyLimitPlugin(.fixed(1), partition: .init { request, _ in request.path })
        #expect(
            await run([ask(), Ask(path: "/c"), ask()], provider(slow(), byPath)) == [
                "200 at 3", "200 at 3", "200 at 4",
            ]
        )
    }

    @Test("Higher priorities go first, and a full queue refuses the newest of the lowest priority")
    func priorities() async {
        let provider = provider(slow(), ConcurrencyLimitPlugin(.fixed(1), queue: 2))
        let asks = [ask(), ask(.low), ask(.low), ask(.low), ask(.high), ask()]
        let full = "limit.concurrency at 0"
        #expect(await run(asks, provider) == ["200 at 1", full, full, full, "200 at 2", "200 at 3"])
    }

    @Test("Without a queue, a call without a free permit is refused, and its error says that nothing was sent")
    func noQueue() async throws {
        let transport = slow()
        let provider = provider(transport, ConcurrencyLimitPlugin(.fixed(1), queue: 0))
        #expect(await run([ask(), ask()], provider) == ["200 at 1", "limit.concurrency at 0"])
        #expect(transport.sent.count == 1)
        let error = await clock.run {
            async let first = provider.request(ask())
            try? await clock.sleep(for: .milliseconds(10))
            let error = await #expect(throws: PipelineError.self) { try await provider.request(ask()) }
            _ = try? await first
            return error
        }
        #expect(error?.reason.contains("https://a.test") == true)
        #expect(error?.exchanges.isEmpty == true)
    }

    @Test("A call waits no longer than the maximum wait")
    func maximumWait() async {
        let plugin = ConcurrencyLimitPlugin(.fixed(1), maximumWait: .milliseconds(1_500))
        let results = await run([ask(), ask(), ask()], provider(slow(), plugin))
        #expect(results == ["200 at 1", "200 at 2", "timeout.queue at 1"])
    }

    @Test("A call leaves the queue when its deadline leaves too little time, and is not admitted if it is too short")
    func deadlines() async {
        let transport = slow()
        let plugins: [any PluginType] = [TimeoutPlugin(total: .seconds(9)), ConcurrencyLimitPlugin(.fixed(1))]
        let provider = Provider<Ask>(transport: transport, plugins: plugins, configuration: .init(clock: clock))
        #expect(await run([ask()], provider) == ["200 at 1"])
        // A request takes 1 s, give or take 0.5 s at first: the bound is 3 s, or half of the time.
        let brief = Ask(options: .init { $0.totalTimeout = .milliseconds(4_500) })
        let short = Ask(options: .init { $0.totalTimeout = .milliseconds(900) })
        let results = await run([ask(), ask(), ask(), ask(), brief, short], provider)
        #expect(results.prefix(4) == ["200 at 2", "200 at 3", "200 at 4", "200 at 5"])
        #expect(results.suffix(2) == ["timeout.queue at 3", "timeout.queue at 1"])
        #expect(transport.sent.count == 5)
        // Without a request in progress, one is let through to learn whether the server has become faster.
        #expect(await run([short], provider) == ["timeout.total at 5"])
    }

    @Test("V02: a streamed call returns its permit with the head; a body that is buffered returns it at its end")
    func streams() async throws {
        let (pieces, source) = AsyncThrowingStream<Data, any Error>.makeStream()
        let transport = ScriptedTransport([
            .status(200, body: .stream(pieces)), .status(200), .status(200, body: .stream(pieces)), .status(200),
        ])
        let provider = provider(transport, ConcurrencyLimitPlugin(.fixed(1), queue: 0))
        let streamed = try await provider.stream(Ask())
        #expect(try await provider.request(Ask()).statusCode == 200)
        withExtendedLifetime(streamed) {}
        let buffered = Task { try await provider.request(Ask()) }
        try await transport.waitForRequests(3)
        await #expect(throws: PipelineError.self) { try await provider.request(Ask()) }
        source.finish()
        #expect(try await buffered.value.statusCode == 200)
        #expect(try await provider.request(Ask()).statusCode == 200)
    }

    @Test(
        "V03: only successes teach the latency, and 429, 503 and 504 count as dropped; a closure decides otherwise",
        arguments: [(200, 200), (404, 200), (500, 200), (429, 1), (503, 1), (504, 1)]
    )
    func outcomes(status: Int, permits: Int) async {
        func limit(
            _ decide: (@Sendable (Result<PipelineResponse, PipelineError>) -> ConcurrencyLimitPlugin.Verdict?)?
        ) async -> String? {
            let plugin = ConcurrencyLimitPlugin(.adaptive(range: 1...200), maximumWait: nil, decide: decide)
            let clock = ManualClock()
            let transport = ScriptedTransport(always: .delayed(.milliseconds(10), .status(status)))
            let provider = Provider<Ask>(transport: transport, plugins: [plugin], configuration: .init(clock: clock))
            await clock.run {
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<3_000 { group.addTask { _ = try? await provider.request(Ask()) } }
                }
            }
            return plugin.health(on: PipelineClock(clock)).details["https://a.test"]
        }
        #expect(await limit(nil)?.hasPrefix("0 of \(permits) ") == true)
        #expect(await limit { _ in .ignored }?.hasPrefix("0 of 200 ") == true)
    }

    @Test("Each hop of a redirect has a permit of its own, and a limit of 1 does not block it")
    func redirects() async throws {
        let transport = ScriptedTransport([
            .status(302, headers: [.location: "https://a.test/c"], body: .stream(AsyncStream { $0.finish() })),
            .status(200),
        ])
        let provider = provider(transport, ConcurrencyLimitPlugin(.fixed(1), queue: 0))
        #expect(try await provider.request(Ask()).statusCode == 200)
        #expect(transport.sent.count == 2)
    }

    @Test("A failure and a cancelled call return their permits, and pass through unchanged")
    func failures() async throws {
        let transport = ScriptedTransport([.failure(.connectionLost), .hang, .status(200)])
        let provider = provider(transport, ConcurrencyLimitPlugin(.fixed(1), queue: 0))
        let error = await #expect(throws: PipelineError.self) { try await provider.request(Ask()) }
        #expect(error?.code == .connectionLost)
        let call = Task { try await provider.request(Ask()) }
        try await transport.waitForRequests(2)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(try await provider.request(Ask()).statusCode == 200)
    }

    @Test("A cancelled call leaves the queue at once, and ends as cancelled")
    func cancelled() async throws {
        let transport = slow()
        let provider = provider(transport, ConcurrencyLimitPlugin(.fixed(1)))
        try await clock.run {
            async let first = provider.request(Ask())
            try await clock.sleep(for: .milliseconds(10))
            let ended = try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    await #expect(throws: CancellationError.self) { try await provider.request(Ask()) }
                    return clock.now.offset == .milliseconds(20)
                }
                try await clock.sleep(for: .milliseconds(10))
                #expect(provider.health.map(\.status) == [.degraded])
                group.cancelAll()
                return try await group.next()
            }
            #expect(ended == true)
            #expect(provider.health.map(\.status) == [.healthy])
            _ = try await first
        }
        #expect(transport.sent.count == 1)
    }

    @Test(
        "An adaptive limit shrinks when the server refuses or is too slow, but not after other ends",
        arguments: [
            (200, true), (503, false), (504, false), (500, true),
        ]
    )
    func outcomes(status: Int, keepsLimit: Bool) async {
        let provider = provider(
            slow(status),
            ConcurrencyLimitPlugin(.adaptive(initial: 40, range: 1...40), queue: 1_000)
        )
        _ = await run(Array(repeating: ask(), count: 800), provider)
        let details = provider.health.first?.details["https://a.test"] ?? ""
        let limit = details.split(separator: " ").dropFirst(2).first.flatMap { Int($0) } ?? 0
        #expect((limit >= 27) == keepsLimit, "\(details)")
    }

    @Test("A call that is cancelled because its time is up counts as too slow, one that its caller cancels does not")
    func cancelledByDeadline() async {
        for isTimedOut in [true, false] {
            let limit = ConcurrencyLimitPlugin(.adaptive(initial: 40, range: 1...40), queue: 0)
            let provider = provider(slow(), TimeoutPlugin(total: .milliseconds(isTimedOut ? 500 : 5_000)), limit)
            await clock.run {
                for _ in 1...20 {
                    await withTaskGroup(of: Void.self) { group in
                        for _ in 1...40 { group.addTask { _ = try? await provider.request(ask()) } }
                        try? await clock.sleep(for: .milliseconds(700))
                        group.cancelAll()
                    }
                }
            }
            let details = provider.health.first?.details["https://a.test"]
            #expect((details == "0 of 40 in use, 0 waiting") != isTimedOut, "\(details ?? "")")
        }
    }

    // MARK: Reports

    @Test("A wait and a refusal are annotated, and only a wait has a span")
    func annotations() async throws {
        let provider = Provider<Ask>(
            transport: slow(),
            plugins: [ConcurrencyLimitPlugin(.fixed(1), queue: 1)],
            configuration: .init(clock: clock, timeline: true)
        )
        try await clock.run {
            async let first = provider.request(ask())
            async let second = provider.request(ask(.low))
            let (one, two) = try await (first, second)
            #expect(one.exchanges.flatMap(\.annotations) == [])
            #expect(
                two.exchanges.flatMap(\.annotations).map(\.description) == ["ConcurrencyLimitPlugin waited 1000 ms"]
            )
            #expect(one.timeline?.spans.contains { $0.name == "permit" } == false)
            #expect(two.timeline?.spans.contains { $0.name == "permit" && $0.kind == .wait } == true)
        }
    }

    @Test("The health names the permits of each origin, but no key from a closure")
    func health() async throws {
        let secret = ConcurrencyLimitPlugin(partition: .init { _, _ in "secret" })
        let provider = provider(slow(), ConcurrencyLimitPlugin(.fixed(1)), secret)
        try await clock.run {
            async let first = provider.request(ask())
            async let second = provider.request(ask())
            try await clock.sleep(for: .milliseconds(10))
            #expect(provider.health.map(\.details) == [["https://a.test": "1 of 1 in use, 1 waiting"], [:]])
            #expect(provider.health.map(\.status) == [.degraded, .healthy])
            _ = try await (first, second)
            #expect(provider.health.map(\.details) == [["https://a.test": "0 of 1 in use, 0 waiting"], [:]])
        }
    }

    // MARK: Position

    @Test("A limit outside a cache is a finding, and two limits are a note")
    func findings() {
        func ids(_ plugins: any PluginType...) -> [[String]] {
            let description = Provider<Ask>(transport: slow(), plugins: plugins).explain()
            return [description.findings.map(\.id), description.hints.map(\.id)]
        }
        #expect(ids(ConcurrencyLimitPlugin(), CachePlugin()) == [["concurrency-limit-outside-cache"], []])
        #expect(ids(CachePlugin(), ConcurrencyLimitPlugin()) == [[], []])
        #expect(ids(ConcurrencyLimitPlugin(), ConcurrencyLimitPlugin()) == [[], ["concurrency-limit-twice"]])
    }
}
