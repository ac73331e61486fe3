import Foundation
import Pipeline
import PipelineAuth
import PipelineCaching
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

/// The claims of the guide "Order", row by row.
@Suite("Order", .watched)
struct OrderTests {
    private let clock = ManualClock()
    private let counter = Tally()

    /// Two adjacent plugins, the first one outside, or in swapped order.
    private func pair(_ outer: any PluginType, _ inner: any PluginType, swapped: Bool) -> [any PluginType] {
        swapped ? [inner, outer] : [outer, inner]
    }

    private func provider(_ transport: ScriptedTransport, _ plugins: [any PluginType]) -> Provider<Ask> {
        Provider(transport: transport, plugins: plugins, configuration: .init(clock: clock, random: .seeded(4)))
    }

    /// Runs the work to its end and advances the clock whenever a task sleeps and nothing else happens.
    private func finish<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let task = Task { try await work() }
        let mover = Task {
            while !Task.isCancelled {
                for _ in 0..<50 { await Task.yield() }
                clock.advanceIfAnyoneSleeps()
            }
        }
        defer { mover.cancel() }
        return try await task.value
    }

    private let impatient = RetryPlugin(backoff: .constant(.milliseconds(100)), budget: .unlimited)

    @Test("1 A failed call has one line; inside RetryPlugin, each attempt has one", arguments: [false, true])
    func logging(swapped: Bool) async throws {
        let counter = counter
        let log = LoggingPlugin(level: .error) { _, _ in counter.add() }
        let provider = provider(ScriptedTransport(always: .status(503)), pair(log, impatient, swapped: swapped))
        _ = try await finish { try await provider.request(Ask()) }
        #expect(counter.value == (swapped ? 3 : 1))
    }

    @Test(
        "2 MinimumDurationPlugin delays the call; inside RetryPlugin, it also delays failed attempts",
        arguments: [false, true]
    )
    func minimumDuration(swapped: Bool) async throws {
        let minimum = MinimumDurationPlugin(.milliseconds(400), appliesTo: .always)
        let transport = ScriptedTransport([.failure(.connectionLost), .failure(.connectionLost), .status(200)])
        let provider = provider(transport, pair(minimum, impatient, swapped: swapped))
        let clock = clock
        let duration = try await finish {
            try await clock.measure { _ = try await provider.request(Ask()) }
        }
        #expect(duration == (swapped ? .milliseconds(600) : .milliseconds(400)))
    }

    @Test(
        "3 Each attempt has its own token; with RetryPlugin inside the token plugin, all have the first",
        arguments: [false, true]
    )
    func tokens(swapped: Bool) async throws {
        let counter = counter
        let token = AccessTokenPlugin { _ in "token-\(counter.add())" }
        let transport = ScriptedTransport(always: .status(503))
        let provider = provider(transport, pair(impatient, token, swapped: swapped))
        _ = try await finish { try await provider.request(Ask(authorizationType: .bearer)) }
        let sent = transport.sent.map { $0.headers[.authorization] ?? "" }
        #expect(sent.count == 3)
        #expect(Set(sent).count == (swapped ? 1 : 3))
        #expect(provider.explain().findings.isEmpty == !swapped)
    }

    @Test(
        "4 Two users make two exchanges; with tokens set inside, no calls share, and a finding says so",
        arguments: [false, true]
    )
    func users(swapped: Bool) async throws {
        let counter = counter
        let token = AccessTokenPlugin { _ in "user-\(counter.add())" }
        let transport = ScriptedTransport(always: .delayed(.seconds(1), .status(200)))
        let provider = provider(transport, pair(token, DeduplicationPlugin(), swapped: swapped))
        try await all(2, of: provider, Ask(authorizationType: .bearer))
        #expect(transport.sent.count == 2)
        #expect(provider.explain().findings.isEmpty == !swapped)
    }

    @Test(
        "5 A shared response is decoded once; with GzipPlugin outside, once for each of 100 callers",
        arguments: [false, true]
    )
    func decoding(swapped: Bool) async throws {
        let counter = counter
        // Is directly outside GzipPlugin and sees each response that GzipPlugin decoded.
        let count = PluginStack.process { result, _ in counter.add() }
        let gzip: [any PluginType] = [count, GzipPlugin()]
        let transport = ScriptedTransport(always: .delayed(.seconds(1), .status(200)))
        let plugins = swapped ? gzip + [DeduplicationPlugin()] : [DeduplicationPlugin()] + gzip
        try await all(100, of: provider(transport, plugins), Ask())
        #expect(transport.sent.count == 1)
        #expect(counter.value == (swapped ? 100 : 1))
    }

    @Test("6 The handler sees no 401 that a refresh resolves; inside, it sees each", arguments: [false, true])
    func unauthorized(swapped: Bool) async throws {
        let counter = counter
        let handler = UnauthorizedPlugin { _, _ in counter.add() }
        let refresh = TokenRefreshPlugin(credential: Session(accessToken: "old")) { _, _ in
            Session(accessToken: "new")
        }
        let transport = ScriptedTransport { request, _ in
            .status(request.headers[.authorization] == "Bearer new" ? 200 : 401)
        }
        let provider = provider(transport, pair(handler, refresh, swapped: swapped))
        let response = try await provider.request(Ask(authorizationType: .bearer))
        #expect(response.statusCode == 200)
        #expect(counter.value == (swapped ? 1 : 0))
    }

    @Test("7 A log outside GzipPlugin shows text; inside, it shows bytes", arguments: [false, true])
    func decodedLog(swapped: Bool) async throws {
        let written = Lines()
        let log = LoggingPlugin(level: .trace) { _, line in written.add(line) }
        let body = PipelineBody.bytes(Data(hello))
        let fields: HTTPFields = [.contentEncoding: "gzip", .contentType: "text/plain"]
        let transport = ScriptedTransport(always: .status(200, headers: fields, body: body))
        let provider = provider(transport, pair(log, GzipPlugin(), swapped: swapped))
        let response = try await finish { try await provider.request(Ask()) }
        #expect(response.data == Data("hello".utf8))
        let shown = written.all.filter { $0.contains("← body") }
        #expect(shown.count == 1)
        #expect(shown.allSatisfy { $0.contains("hello") } == !swapped)
    }

    @Test(
        "8 An activity spans the waits between attempts; inside RetryPlugin, it does not",
        arguments: [false, true]
    )
    func activity(swapped: Bool) async throws {
        let activity = ActivityPlugin { _ in }
        let counter = counter
        let backoff = RetryPolicy.Backoff { _, _ in
            counter.add()
            return .seconds(9)
        }
        let retry = RetryPlugin(backoff: backoff, budget: .unlimited)
        let provider = provider(ScriptedTransport(always: .status(503)), pair(activity, retry, swapped: swapped))
        let call = Task { try await provider.request(Ask()) }
        // When RetryPlugin asks for the backoff, it has the outcome of the first attempt.
        await eventually { counter.value == 1 }
        #expect(activity.activeCallCount == (swapped ? 0 : 1))
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test(
        "9 Outside deduplication, each caller decides and one retry serves all; inside, the first caller decides",
        arguments: [false, true]
    )
    func sharedRetry(swapped: Bool) async throws {
        let counter = counter
        let policy = RetryPolicy { _ in
            counter.add()
            return nil
        }
        let retry = RetryPlugin(policy: policy)
        let transport = ScriptedTransport { _, index in
            .delayed(.milliseconds(50), .status(index == 0 ? 503 : 200))
        }
        let provider = provider(transport, pair(retry, DeduplicationPlugin(), swapped: swapped))
        try await all(100, of: provider, Ask())
        #expect(transport.sent.count == 2)
        #expect(counter.value == (swapped ? 2 : 200))
    }

    @Test(
        "10 A failure counter counts each attempt once; outside RetryPlugin and DeduplicationPlugin, each caller",
        arguments: [false, true]
    )
    func failures(swapped: Bool) async throws {
        let counter = counter
        let count = PluginStack.intercept(name: "count") { request, _, next in
            let response = try await next(request)
            if response.statusCode == 503 { counter.add() }
            return response
        }
        let sharing = PluginStack([impatient, DeduplicationPlugin()])
        let transport = ScriptedTransport(always: .delayed(.milliseconds(50), .status(503)))
        let provider = provider(transport, pair(sharing, count, swapped: swapped))
        try await all(100, of: provider, Ask())
        #expect(transport.sent.count == 3)
        #expect(counter.value == (swapped ? 100 : 3))
    }

    @Test(
        "11 A cache outside a breaker responds although the circuit is open; inside, it does not",
        arguments: [false, true]
    )
    func openCircuit(swapped: Bool) async throws {
        let breaker = CircuitBreakerPlugin()
        let transport = ScriptedTransport(always: .status(200, headers: [.cacheControl: "max-age=60"]))
        let provider = provider(transport, pair(CachePlugin(), breaker, swapped: swapped))
        _ = try await provider.request(Ask())
        breaker.isolate()
        do {
            _ = try await provider.request(Ask())
            #expect(!swapped)
        } catch let error as PipelineError {
            #expect(swapped && error.code == .circuitOpen)
        }
        #expect(provider.explain().findings.map(\.id) == (swapped ? ["breaker-outside-cache"] : []))
    }

    @Test(
        "12 A request that waits for the rate limit holds no permit; inside the concurrency limit, it holds one",
        arguments: [false, true]
    )
    func permits(swapped: Bool) async throws {
        let byPath = TrafficPartition { request, _ in request.path }
        let rate = RateLimitPlugin(RateLimit(1, per: .seconds(10), jitter: .zero), partition: byPath)
        let server = SimulatedServer(on: clock, serviceTime: .constant(.zero))
        let plugins = pair(rate, ConcurrencyLimitPlugin(.fixed(1)), swapped: swapped)
        let provider = Provider<URLTarget>(transport: server, plugins: plugins, configuration: .init(clock: clock))
        await clock.run {
            await withDiscardingTaskGroup { group in
                for path in ["a", "a", "b"] {
                    group.addTask { _ = try? await provider.request(URLTarget("https://a.test/\(path)")) }
                }
            }
        }
        #expect(provider.explain().findings.map(\.id) == (swapped ? ["rate-limit-inside-concurrency-limit"] : []))
        #expect(server.arrivals.last.map { $0 >= .seconds(10) } == true)
        #expect(server.arrivals.count { $0 < .seconds(10) } == (swapped ? 1 : 2))
    }

    /// Makes a number of equal calls, all of which reach deduplication before the clock advances.
    private func all(_ count: Int, of provider: Provider<Ask>, _ target: Ask) async throws {
        let calls = (0..<count).map { _ in Task { try await provider.request(target) } }
        await eventually { provider.plugins.contains { ($0 as? DeduplicationPlugin)?.callerCount == count } }
        try await finish {
            for call in calls { _ = try await call.value }
        }
    }
}

/// `hello` in gzip, as written by Python.
private let hello: [UInt8] = [
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xff, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x86, 0xa6,
    0x10, 0x36, 0x05, 0x00, 0x00, 0x00,
]
