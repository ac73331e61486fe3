import Foundation
import Pipeline
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("HedgingPlugin", .tags(.concurrent), .watched)
struct HedgingPluginTests {
    private typealias Step = ScriptedTransport.Step

    private let clock = ManualClock()

    /// Returns a provider whose transport takes a step by the number of the copy.
    private func provider(
        _ plugins: [any PluginType] = [HedgingPlugin(after: .fixed(.milliseconds(50)))],
        _ configuration: ProviderConfiguration = ProviderConfiguration(),
        _ steps: Step...
    ) -> (Provider<Ask>, ScriptedTransport) {
        let transport = ScriptedTransport { request, _ in steps[min(request.copyNumber, steps.count - 1)] }
        var configuration = configuration
        configuration.clock = PipelineClock(clock)
        let plugins = plugins + [CopyMark()]
        return (Provider(transport: transport, plugins: plugins, configuration: configuration), transport)
    }

    private static func body(_ text: String, after delay: Duration, status: Int = 200) -> Step {
        .delayed(delay, .status(status, body: text))
    }

    @Test("The plugin passes the conformance suite", arguments: [HedgingDelay.fixed(.zero), .percentile(0.9)])
    func conformance(delay: HedgingDelay) async {
        let violations = await PluginConformance { HedgingPlugin(after: delay) }.run()
        #expect(violations == [])
    }

    // MARK: Results

    @Test("A second copy is sent after the delay, and the first usable response wins")
    func winning() async throws {
        let (provider, transport) = provider(
            [HedgingPlugin(after: .fixed(.milliseconds(50)))],
            .init(),
            Self.body("slow", after: .seconds(1)),
            Self.body("fast", after: .milliseconds(20))
        )
        let response = try await clock.run { try await provider.request(Ask()) }
        #expect(try response.mapString() == "fast")
        #expect(clock.now.offset == .milliseconds(70))
        #expect(transport.sent.map(\.copyNumber) == [0, 1])
        #expect(response.exchanges.map(\.attempt) == [2, 1])
        #expect(response.exchanges.map(\.failure) == [nil, .cancelled])
    }

    @Test("A response before the delay is the only one, whether it is usable or not", arguments: [200, 503, 0])
    func quick(status: Int) async throws {
        let step: Step = status == 0 ? .failure(.connectionLost) : .status(status)
        let (provider, transport) = provider(
            [HedgingPlugin(after: .fixed(.milliseconds(50)))],
            .init(),
            .delayed(.milliseconds(49), step)
        )
        let response = await clock.run { try? await provider.request(Ask()) }
        #expect(response?.statusCode == (status == 0 ? nil : status))
        #expect(clock.now.offset == .milliseconds(49))
        #expect(transport.sent.count == 1)
    }

    @Test("A response that is not usable waits for the copy in flight")
    func waiting() async throws {
        let (provider, _) = provider(
            [HedgingPlugin(after: .fixed(.milliseconds(50)))],
            .init(),
            Self.body("busy", after: .milliseconds(60), status: 503),
            Self.body("fine", after: .milliseconds(200))
        )
        let response = try await clock.run { try await provider.request(Ask()) }
        #expect(try response.mapString() == "fine")
        #expect(clock.now.offset == .milliseconds(250))
    }

    @Test("If no copy brings a usable response, a response is better than a failure, and then the first copy counts")
    func losing() async throws {
        let plugins: [any PluginType] = [HedgingPlugin(after: .fixed(.milliseconds(50)), maximumHedgeCount: 2)]
        let lost = Step.delayed(.seconds(1), .failure(.connectionLost))
        let (first, _) = provider(plugins, .init(), lost, Self.body("1", after: .seconds(2), status: 503), lost)
        #expect(try await clock.run { try await first.request(Ask()).mapString() } == "1")
        let (second, _) = provider(
            plugins,
            .init(),
            .delayed(.seconds(3), .failure(.connectionLost)),
            .delayed(.seconds(1), .failure(.truncated))
        )
        let error = await #expect(throws: PipelineError.self) {
            try await clock.run { try await second.request(Ask()) }
        }
        #expect(error?.code == .connectionLost)
        #expect(error?.exchanges.count == 3)
    }

    @Test("Further copies follow at the same distance, up to the maximum")
    func several() async throws {
        let moments = Mutex<[Duration]>([])
        let clock = clock
        let (provider, _) = provider(
            [HedgingPlugin(after: .fixed(.milliseconds(50)), maximumHedgeCount: 3)],
            .init(),
            .answer { request, context in
                moments.withLock { $0.append(clock.now.offset) }
                try await context.clock.sleep(for: .seconds(1))
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
        _ = try await clock.run { try await provider.request(Ask()) }
        #expect(moments.withLock { $0 } == [.zero, .milliseconds(50), .milliseconds(100), .milliseconds(150)])
    }

    // MARK: Which requests

    @Test("A call with a method that is not safe, or with an option against it, has one copy")
    func exceptions() async throws {
        func sentCount(_ ask: Ask) async throws -> Int {
            let (provider, transport) = provider(
                [RetryPlugin(), HedgingPlugin(after: .fixed(.milliseconds(50)))],
                .init(),
                Self.body("", after: .seconds(1))
            )
            _ = try await clock.run { try await provider.request(ask) }
            return transport.sent.count
        }
        #expect(try await sentCount(Ask()) == 2)
        #expect(try await sentCount(Ask(method: .put)) == 1)
        #expect(try await sentCount(Ask(method: .post)) == 1)
        let keyed = RequestOptions { $0.idempotencyKey = .generated }
        #expect(try await sentCount(Ask(method: .post, options: keyed)) == 1)
        let never = RequestOptions { $0.hedging = .never }
        #expect(try await sentCount(Ask(options: never)) == 1)
        let single = RequestOptions { $0.retry = .never }
        #expect(try await sentCount(Ask(options: single)) == 1)
        let hedged = RequestOptions {
            $0.retry = .never
            $0.hedging = .fixed(.milliseconds(50))
        }
        #expect(try await sentCount(Ask(options: hedged)) == 2)
        let late = RequestOptions { $0.hedging = .fixed(.seconds(2)) }
        #expect(try await sentCount(Ask(options: late)) == 1)
    }

    @Test("A call that is streamed or reports progress has one copy", arguments: [true, false])
    func openCalls(isStreamed: Bool) async throws {
        let (provider, transport) = provider(
            [HedgingPlugin(after: .fixed(.milliseconds(50)))],
            .init(),
            Self.body("", after: .seconds(1))
        )
        // The work of these calls is not structured, so that the clock cannot run it.
        let call = Task {
            if isStreamed {
                _ = try await provider.stream(Ask())
            } else {
                for try await _ in provider.requestWithProgress(Ask()) {}
            }
        }
        #expect(try await clock.advanceToNextSleeper() == .seconds(1))
        try await call.value
        #expect(transport.sent.count == 1)
    }

    @Test("No copy is sent if the deadline comes before the delay has passed, or a copy more than it allows")
    func deadline() async throws {
        for (total, count) in [(50, 1), (51, 2), (100, 2), (101, 3)] {
            let (provider, transport) = provider(
                [
                    TimeoutPlugin(total: .milliseconds(total)),
                    HedgingPlugin(after: .fixed(.milliseconds(50)), maximumHedgeCount: 5),
                ],
                .init(),
                .hang
            )
            let error = await #expect(throws: PipelineError.self) {
                try await clock.run { try await provider.request(Ask()) }
            }
            #expect(error?.code == .timeout(.total))
            #expect(transport.sent.count == count)
        }
    }

    @Test("No copy is sent while the first one waits at a closed gate")
    func gate() async throws {
        let transport = ScriptedTransport { _, index in
            switch index {
            case 0: .status(429, headers: [.retryAfter: "10"])
            case 1: Self.body("slow", after: .seconds(5))
            default: Self.body("fast", after: .milliseconds(20))
            }
        }
        let hedging = HedgingPlugin(after: .fixed(.seconds(3)), maximumHedgeCount: 5)
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [hedging, RateLimitPlugin(spread: .zero), CopyMark()],
            configuration: .init(clock: clock)
        )
        let response = try await clock.run {
            #expect(try await provider.request(Ask()).statusCode == 429)
            return try await provider.request(Ask())
        }
        #expect(try response.mapString() == "fast")
        #expect(transport.sent.map(\.copyNumber) == [0, 0, 1])
        #expect(clock.now.offset == .milliseconds(13_020))
    }

    @Test("No copy is sent while the first one waits for a permit")
    func permit() async throws {
        let transport = ScriptedTransport { _, index in
            Self.body("", after: index == 0 ? .seconds(1) : .milliseconds(100))
        }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [HedgingPlugin(after: .fixed(.milliseconds(300))), ConcurrencyLimitPlugin(.fixed(1))],
            configuration: .init(clock: clock)
        )
        let events = try await clock.run {
            async let first = provider.request(Ask(options: RequestOptions { $0.hedging = .never }))
            async let second = provider.request(Ask(path: "/c"))
            return try await [first, second].flatMap(\.exchanges).flatMap(\.annotations).map(\.event)
        }
        #expect(events == ["waited"])
    }

    @Test("A deadline that the plugin which has set it does not enforce counts, too")
    func unenforcedDeadline() async throws {
        let prepare: any PluginType = .prepare { _, context in
            context.setDeadline(context.clock.now.advanced(by: .milliseconds(50)))
        }
        let (provider, transport) = provider(
            [prepare, HedgingPlugin(after: .fixed(.milliseconds(50)))],
            .init(),
            Self.body("", after: .seconds(1))
        )
        _ = try await clock.run { try await provider.request(Ask()) }
        #expect(transport.sent.count == 1)
    }

    @Test("A copy is not sent beyond the number of exchanges that a call may have")
    func exchangeLimit() async throws {
        let (provider, transport) = provider(
            [HedgingPlugin(after: .fixed(.milliseconds(50)), maximumHedgeCount: 5)],
            .init(limits: ProviderConfiguration.Limits(exchangeCount: 2)),
            Self.body("", after: .seconds(1))
        )
        let response = try await clock.run { try await provider.request(Ask()) }
        #expect(transport.sent.count == 2)
        #expect(response.exchanges.flatMap(\.annotations).map(\.event) == ["hedged"])
    }

    @Test("With a budget of its own, each call allows a share of a copy")
    func ownBudget() async throws {
        let (provider, transport) = provider(
            [HedgingPlugin(after: .fixed(.milliseconds(50)))],
            .init(),
            Self.body("", after: .milliseconds(60))
        )
        // The calls take a minute. The default budget allows 10 copies per second, and one more for each 5 calls.
        try await clock.run { for _ in 1...1_000 { _ = try await provider.request(Ask()) } }
        #expect((1_770...1_830).contains(transport.sent.count))
    }

    // MARK: Other plugins

    @Test("A retry sends both copies anew, and the policy of the option decides what is usable")
    func retrying() async throws {
        let retry = RetryPlugin(backoff: .constant(.zero))
        let (provider, transport) = provider(
            [retry, HedgingPlugin(after: .fixed(.milliseconds(50)), budget: retry.budget)],
            .init(),
            Self.body("", after: .seconds(1), status: 418)
        )
        #expect(try await clock.run { try await provider.request(Ask()).statusCode } == 418)
        #expect(transport.sent.count == 2)
        let options = RequestOptions { $0.retry = .init(policy: RetryPolicy(statusCodes: [418])) }
        let response = try await clock.run { try await provider.request(Ask(), options: options) }
        #expect(response.exchanges.count == 6)
        #expect(transport.sent.map(\.copyNumber) == [0, 1, 0, 1, 0, 1, 0, 1])
    }

    @Test("Each copy has its own attempt and its own credential, and annotations show what was done")
    func copies() async throws {
        let count = Mutex(0)
        let token = AccessTokenPlugin { _ in
            count.withLock { count in
                count += 1
                return "token\(count)"
            }
        }
        let (provider, transport) = provider(
            [HedgingPlugin(after: .fixed(.milliseconds(50))), token],
            .init(),
            .hang,
            .status(200)
        )
        let response = try await clock.run {
            try await provider.request(Ask(authorizationType: .bearer))
        }
        #expect(transport.sent.map { $0.headers[.authorization] } == ["Bearer token1", "Bearer token2"])
        let annotations = response.exchanges.flatMap(\.annotations).map(\.event)
        #expect(annotations == ["hedged", "won by copy"])
    }

    // MARK: Cancellation and order

    @Test("A cancelled call cancels all copies and throws CancellationError")
    func cancellation() async throws {
        let ended = Mutex(0)
        let (provider, transport) = provider(
            [HedgingPlugin(after: .fixed(.milliseconds(50)))],
            .init(),
            .answer { _, context in
                defer { ended.withLock { $0 += 1 } }
                try await context.clock.sleep(for: .seconds(1_000))
                throw CancellationError()
            }
        )
        let clock = clock
        await clock.run {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    await #expect(throws: CancellationError.self) { try await provider.request(Ask()) }
                }
                try? await clock.sleep(for: .milliseconds(60))
                group.cancelAll()
                await group.waitForAll()
                #expect(clock.now.offset == .milliseconds(60))
            }
        }
        #expect(transport.sent.count == 2)
        #expect(ended.withLock { $0 } == 2)
        #expect(clock.sleeperCount == 0)
    }

    @Test("explain() reports the plugin outside retries, inside a credential, and twice")
    func order() {
        func findings(_ plugins: any PluginType...) -> [String] {
            Provider<Ask>(transport: ScriptedTransport([]), plugins: plugins).explain().findings.map(\.id)
        }
        let retry = RetryPlugin()
        let (hedging, token) = (HedgingPlugin(budget: retry.budget), AccessTokenPlugin { _ in "" })
        #expect(findings(retry, hedging, token, DeduplicationPlugin()) == [])
        #expect(findings(hedging, retry) == ["hedge-outside-retry"])
        #expect(findings(token, hedging) == ["hedge-inside-credential"])
        #expect(findings(hedging, HedgingPlugin(budget: retry.budget)) == ["hedge-inside-hedge"])
    }
}
