import Pipeline
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("The deadline of a shared exchange", .tags(.concurrent), .watched)
struct SharedDeadlineTests {
    private let clock = ManualClock()

    private func provider(_ transport: ScriptedTransport, _ inside: any PluginType) -> Provider<Ask> {
        Provider(
            transport: transport,
            plugins: [TimeoutPlugin(total: .seconds(30)), DeduplicationPlugin(), inside],
            configuration: .init(clock: clock)
        )
    }

    private func code(_ provider: Provider<Ask>, _ total: Duration?, _ path: String = "/b") async -> String {
        do {
            let options = RequestOptions { $0.totalTimeout = total }
            return "\(try await provider.request(Ask(path: path), options: options).statusCode)"
        } catch {
            return (error as? PipelineError)?.code.rawValue ?? "\(type(of: error))"
        }
    }

    @Test("V01: at a gate that opens after its deadline, a shared GET is refused at once, as a POST is")
    func gate() async throws {
        let transport = ScriptedTransport { _, index in
            index == 0 ? .status(429, headers: [.retryAfter: "20"]) : .status(200)
        }
        let provider = provider(transport, RateLimitPlugin())
        #expect(await code(provider, nil, "/first") == "429")
        let start = clock.now
        #expect(await clock.run { await code(provider, .seconds(5)) } == "limit.rate")
        #expect(clock.now == start)
        #expect(await clock.run { await code(provider, .seconds(25)) } == "200")
        #expect(start.duration(to: clock.now) >= .seconds(19))
    }

    /// Sends equal calls a second apart while another one holds the only permit for 8 s.
    private func codes(ofCallsWith totals: Duration...) async -> (codes: [String], sentCount: Int) {
        let transport = ScriptedTransport { _, index in .delayed(.seconds(index == 0 ? 8 : 0), .status(200)) }
        let provider = provider(transport, ConcurrencyLimitPlugin(.fixed(1), maximumWait: nil))
        let codes = await clock.run {
            async let holder = code(provider, nil, "/holder")
            let codes = await withTaskGroup(of: (Int, String).self) { group in
                for (index, total) in totals.enumerated() {
                    try? await clock.sleep(for: .seconds(1))
                    group.addTask { (index, await code(provider, total)) }
                }
                return await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
            }
            _ = await holder
            return codes.sorted { $0.key < $1.key }.map(\.value)
        }
        return (codes, transport.sent.count)
    }

    @Test("V01: a call that joins a waiting exchange with more time extends its wait, and only the first one fails")
    func joined() async throws {
        let (codes, sentCount) = await codes(ofCallsWith: .seconds(3), .seconds(20))
        #expect(codes == ["timeout.total", "200"])
        #expect(sentCount == 2)
    }

    @Test("V01: without a call that has more time, the exchange leaves the line with its last caller")
    func alone() async throws {
        let (codes, sentCount) = await codes(ofCallsWith: .seconds(3))
        #expect(codes == ["timeout.total"] || codes == ["timeout.queue"])
        #expect(sentCount == 1)
    }

    /// Sends equal calls a second apart, whose first exchanges take 4 s and get a 503.
    private func retried(by inside: any PluginType, _ totals: Duration...) async -> (codes: [String], sentCount: Int) {
        let transport = ScriptedTransport { _, index in .delayed(.seconds(4), .status(index == 0 ? 503 : 200)) }
        let provider = provider(transport, inside)
        let codes = await clock.run {
            let codes = await withTaskGroup(of: (Int, String).self) { group in
                for (index, total) in totals.enumerated() {
                    group.addTask { (index, await code(provider, total)) }
                    try? await clock.sleep(for: .seconds(1))
                }
                return await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
            }
            return codes.sorted { $0.key < $1.key }.map(\.value)
        }
        return (codes, transport.sent.count)
    }

    @Test("Calls that joined a shared exchange keep its retry when the time of the first call is over")
    func retry() async throws {
        let plugin = RetryPlugin(backoff: .constant(.seconds(1)))
        let (codes, sentCount) = await retried(by: plugin, .seconds(3), .seconds(20), .seconds(25))
        #expect(codes == ["timeout.total", "200", "200"])
        #expect(sentCount == 2)
    }

    @Test("A shared exchange whose retry would come too late for all of its calls is not retried")
    func lateRetry() async throws {
        let plugin = RetryPlugin(backoff: .constant(.seconds(10)))
        let (codes, sentCount) = await retried(by: plugin, .seconds(3), .seconds(8))
        #expect(codes == ["timeout.total", "503"])
        #expect(sentCount == 1)
    }

    /// A plugin that makes the request of a shared exchange wait for 6 s or more.
    struct Wait: CustomTestStringConvertible {
        let testDescription: String
        /// What a call before the shared exchange gets.
        var holder: ScriptedTransport.Step?
        /// What the first request of the shared exchange gets.
        var first = ScriptedTransport.Step.status(200)
        let makePlugin: @Sendable () -> any PluginType

        static let all = [
            Wait(testDescription: "gate", holder: .status(429, headers: [.retryAfter: "10"])) { RateLimitPlugin() },
            Wait(testDescription: "rate limit", holder: .status(200)) {
                RateLimitPlugin(RateLimit(1, per: .seconds(10)))
            },
            Wait(testDescription: "concurrency limit", holder: .delayed(.seconds(10), .status(200))) {
                ConcurrencyLimitPlugin(.fixed(1), maximumWait: nil)
            },
            Wait(testDescription: "hedging", first: .hang) { HedgingPlugin(after: .fixed(.seconds(6))) },
        ]
    }

    @Test("A plugin waits until the latest deadline of the calls that share its exchange", arguments: Wait.all)
    func waits(wait: Wait) async {
        let isFirst = Mutex(true)
        let transport = ScriptedTransport { request, _ in
            if request.path == "/holder" { return wait.holder ?? .status(500) }
            return isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst ? wait.first : .status(200)
            }
        }
        // The second call has joined before the plugin looks at the deadline.
        let delay = PluginStack.intercept { request, context, next in
            if request.path != "/holder" { try await context.clock.sleep(for: .seconds(2)) }
            return try await next(request)
        }
        let provider = provider(transport, PluginStack([delay, wait.makePlugin()]))
        let codes = await clock.run {
            async let holder = wait.holder == nil ? "" : code(provider, nil, "/holder")
            try? await clock.sleep(for: .milliseconds(100))
            async let first = code(provider, .seconds(3))
            try? await clock.sleep(for: .seconds(1))
            async let second = code(provider, .seconds(20))
            _ = await holder
            return await [first, second]
        }
        #expect(codes == ["timeout.total", "200"])
    }

    @Test(
        "A shared exchange that is cancelled while a call had time left does not count as a failure of the circuit",
        arguments: [true, false]
    )
    func circuit(isJoined: Bool) async {
        let transport = ScriptedTransport { _, index in index == 0 ? .hang : .status(200) }
        let provider = provider(transport, CircuitBreakerPlugin(failureRatio: 0.5, minimumCallCount: 1))
        let later = await clock.run {
            async let first = code(provider, .seconds(3))
            try? await clock.sleep(for: .seconds(1))
            await withTaskGroup(of: Void.self) { group in
                group.addTask { if isJoined { _ = await code(provider, .seconds(20)) } }
                try? await clock.sleep(for: .seconds(4))
                group.cancelAll()
            }
            _ = await first
            return await code(provider, nil, "/c")
        }
        #expect(later == (isJoined ? "200" : "circuitOpen"))
    }

    @Test("V09: an exchange that hangs is joined for 10 s only, so that later calls get a response")
    func age() async throws {
        let transport = ScriptedTransport { _, index in index == 0 ? .hang : .status(200) }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [TimeoutPlugin(total: .seconds(60)), DeduplicationPlugin()],
            configuration: .init(clock: clock)
        )
        let codes = await clock.run {
            async let hung = code(provider, .seconds(15))
            try? await clock.sleep(for: .seconds(10))
            async let early = code(provider, .seconds(5))
            try? await clock.sleep(for: .seconds(1))
            async let late = code(provider, .seconds(5))
            return await [hung, early, late]
        }
        #expect(codes == ["timeout.total", "timeout.total", "200"])
        #expect(transport.sent.count == 2)
    }
}
