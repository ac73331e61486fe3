import Foundation
import Pipeline
import PipelineCaching
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("StaleFallbackPlugin", .tags(.concurrent), .watched)
struct StaleFallbackPluginTests {
    @Test("The plugin passes the conformance suite")
    func conformance() async {
        let suite = PluginConformance { StaleFallbackPlugin() }
        #expect(await suite.run() == [])
    }

    @Test("A stale response is used only after all retries have failed", arguments: [503, 0])
    func fallback(status: Int) async throws {
        let fields = CacheBench.control("max-age=60, stale-if-error=600")
        let transport = ScriptedTransport { _, index in
            guard index > 0 else { return .status(200, headers: fields, body: "0") }
            return status == 0 ? .failure(.connectionLost) : .status(status)
        }
        let bench = CacheBench(
            transport,
            outside: [
                StaleFallbackPlugin(),
                RetryPlugin(maximumAttempts: 3, backoff: .constant(.zero)),
            ]
        )
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(100))
        #expect(try await bench.get() == "0 stale")
        #expect(transport.sent.count == 4)
    }

    @Test("All calls that shared a failed exchange get the stale response", arguments: [503, 0])
    func shared(status: Int) async throws {
        let fields = CacheBench.control("max-age=60, stale-if-error=600")
        let transport = ScriptedTransport { _, index in
            guard index > 0 else { return .status(200, headers: fields, body: "0") }
            return .delayed(.seconds(1), status == 0 ? .failure(.connectionLost) : .status(status))
        }
        let deduplication = DeduplicationPlugin()
        let bench = CacheBench(transport, outside: [StaleFallbackPlugin(), deduplication])
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(100))
        let calls = (1...100).map { _ in Task { try await bench.get() } }
        await eventually { deduplication.callerCount == 100 && bench.clock.sleeperCount == 1 }
        bench.clock.advance(by: .seconds(1))
        for call in calls { #expect(try await call.value == "0 stale") }
        #expect(transport.sent.count == 2)
    }

    @Test(
        "A call that begins while another gets its stale response has an exchange, and its response is used at once",
        arguments: [(seconds: 1, expected: "0 stale"), (seconds: 3, expected: "2 hit")]
    )
    func begunDuringFallback(seconds: Int, expected: String) async throws {
        let fields = CacheBench.control("max-age=60, stale-if-error=600")
        let transport = ScriptedTransport { _, index in
            index == 1 ? .failure(.connectionLost) : .status(200, headers: fields, body: "\(index)")
        }
        // The runs: one that stores, one that fails, its second run, and the other call.
        let waits = Mutex([1, 1, seconds, 2])
        let slow = PluginStack.intercept(name: "slow") { request, context, next in
            let wait = waits.withLock { $0.removeFirst() }
            try await context.clock.sleep(for: .seconds(wait))
            return try await next(request)
        }
        let bench = CacheBench(transport, outside: [StaleFallbackPlugin(), DeduplicationPlugin(), slow])
        func begin() -> Task<String, any Error> { Task { try await bench.get() } }
        let storing = begin()
        try await bench.clock.advanceToNextSleeper()
        #expect(try await storing.value == "0 miss")
        bench.clock.advance(by: .seconds(100))
        let failing = begin()
        try await bench.clock.advanceToNextSleeper()
        await eventually { waits.withLock { $0.count } == 1 && bench.clock.sleeperCount == 1 }
        let other = begin()
        try await bench.clock.waitForSleepers(2)
        try await bench.clock.advanceToNextSleeper()
        let (first, second) = seconds < 2 ? (failing, other) : (other, failing)
        #expect(try await first.value == (seconds < 2 ? expected : "2 miss"))
        try await bench.clock.advanceToNextSleeper()
        #expect(try await second.value == (seconds < 2 ? "2 miss" : expected))
        #expect(transport.sent.count == 3)
    }

    @Test("Without a stored response that may be used, the failure of the origin is thrown")
    func withoutStored() async throws {
        let transport = ScriptedTransport([
            .status(200, headers: CacheBench.control("max-age=60"), body: "0"), .failure(.connectionLost),
        ])
        let bench = CacheBench(transport, outside: [StaleFallbackPlugin()])
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(100))
        let error = await #expect(throws: PipelineError.self) { try await bench.get() }
        #expect(error?.code == .connectionLost)
        #expect(transport.sent.count == 2)
    }

    @Test("After the limit of stale-if-error, the failure is the result, and nothing is sent a second time")
    func afterLimit() async throws {
        let fields = CacheBench.control("max-age=60, stale-if-error=600")
        let transport = ScriptedTransport([.status(200, headers: fields, body: "0"), .status(503)])
        let bench = CacheBench(transport, outside: [StaleFallbackPlugin()])
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(661))
        #expect(try await bench.response().statusCode == 503)
        #expect(transport.sent.count == 2)
    }

    @Test(
        "If the stored response is gone or too old after the retries, the failure is the result",
        arguments: [503, 0]
    )
    func gone(status: Int) async throws {
        let fields = CacheBench.control("max-age=60, stale-if-error=600", [.eTag: "\"v\""])
        for isRemoved in [true, false] {
            let transport = ScriptedTransport { _, index in
                guard index > 0 else { return .status(200, headers: fields, body: "0") }
                return status == 0 ? .failure(.connectionLost) : .status(status)
            }
            let (cache, clock) = (CachePlugin(), ManualClock())
            let delay: any PluginType = .intercept(name: "delay") { request, _, next in
                defer { if !isRemoved, transport.sent.count > 1 { clock.advance(by: .seconds(600)) } }
                let result = await Result { try await next(request) }
                if isRemoved, transport.sent.count > 1 { try await cache.signOut() }
                return try result.get()
            }
            let provider = Provider<Ask>(
                transport: transport,
                plugins: [StaleFallbackPlugin(), delay, cache],
                configuration: .init(clock: clock)
            )
            _ = try await provider.request(Ask())
            clock.advance(by: .seconds(100))
            if status == 0 {
                let error = await #expect(throws: PipelineError.self) { try await provider.request(Ask()) }
                #expect(error?.code == .connectionLost)
            } else {
                #expect(try await provider.request(Ask()).statusCode == status)
            }
            #expect(transport.sent.count == 2)
        }
    }

    @Test("The body of a failure that is replaced is read, so that its connection can be used again")
    func discarded() async throws {
        let fields = CacheBench.control("max-age=60, stale-if-error=600")
        let isRead = Mutex(false)
        let body = PipelineBody.stream(
            replaying: {
                AsyncStream<Data>(unfolding: {
                    isRead.withLock { $0 = true }
                    return nil
                })
            }
        )
        let transport = ScriptedTransport([.status(200, headers: fields, body: "0"), .status(503, body: body)])
        let bench = CacheBench(transport, outside: [StaleFallbackPlugin()])
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(100))
        #expect(try await bench.get() == "0 stale")
        #expect(isRead.withLock { $0 })
    }

    @Test("A call that is cancelled during the second run throws CancellationError", arguments: [503, 0])
    func cancelled(status: Int) async throws {
        let fields = CacheBench.control("max-age=60, stale-if-error=600")
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let transport = ScriptedTransport { _, index in
            guard index > 0 else { return .status(200, headers: fields, body: "0") }
            return status == 0 ? .failure(.connectionLost) : .status(status)
        }
        let wait: any PluginType = .intercept(name: "wait") { request, _, next in
            let result = await Result { try await next(request) }
            if (try? result.get())?.cacheStatus?.kind == .stale {
                arrival.yield()
                try await WatchedStore.hang()
            }
            return try result.get()
        }
        let bench = CacheBench(transport, outside: [StaleFallbackPlugin(), wait])
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(100))
        let call = Task { try await bench.get() }
        for await _ in arrivals { break }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test("A cancelled call does not run a second time")
    func cancelledAtOnce() async throws {
        let fields = CacheBench.control("max-age=60, stale-if-error=600")
        let transport = ScriptedTransport([.status(200, headers: fields, body: "0"), .failure(.connectionLost)])
        let runs = Mutex(0)
        let cancel: any PluginType = .intercept(name: "cancel") { request, _, next in
            let count = runs.withLock { runs in
                runs += 1
                return runs
            }
            let result = await Result { try await next(request) }
            if count == 2 { withUnsafeCurrentTask { $0?.cancel() } }
            return try result.get()
        }
        let bench = CacheBench(transport, outside: [StaleFallbackPlugin(), cancel])
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(100))
        await #expect(throws: (any Error).self) { try await Task { try await bench.get() }.value }
        #expect(runs.withLock { $0 } == 2)
    }

    @Test("explain() reports the plugin inside a plugin that retries, and without a cache")
    func order() {
        func findings(_ plugins: [any PluginType]) -> [String] {
            Provider<Ask>(transport: ScriptedTransport([]), plugins: plugins).explain().findings.map(\.id)
        }
        #expect(findings([StaleFallbackPlugin(), RetryPlugin(), CachePlugin()]) == [])
        #expect(findings([RetryPlugin(), StaleFallbackPlugin(), CachePlugin()]) == ["fallback-inside-retry"])
        #expect(findings([StaleFallbackPlugin()]) == ["fallback-without-cache"])
        #expect(findings([CachePlugin(), CachePlugin()]) == ["cache-twice"])
        #expect(findings([CachePlugin(), CookiePlugin()]) == ["cookies-inside-cache"])
        func exchange(_ capabilities: Set<PluginCapability>) -> any PluginType {
            .exchange(name: "inner", capabilities: capabilities) { request, _, send in try await send(request) }
        }
        #expect(findings([exchange([.signs]), CachePlugin()]) == ["cache-inside-signature"])
        #expect(findings([CachePlugin(), exchange([.signs])]) == ["sharing-outside-credential"])
        #expect(findings([CachePlugin(), exchange([.answersChallenges])]) == ["cache-outside-challenge"])
        for capability in [PluginCapability.signs, .answersChallenges] {
            #expect(findings([CachePlugin(), exchange([capability, .identifiesCalls])]) == [])
        }
        #expect(findings([CachePlugin(), AccessTokenPlugin { _ in "" }]) == [])
    }
}

extension Result where Failure == any Error {
    /// Makes a result of what an asynchronous closure returns or throws.
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
