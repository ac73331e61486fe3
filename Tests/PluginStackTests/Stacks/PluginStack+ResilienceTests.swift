import Pipeline
import PipelineCaching
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

@Suite("PluginStack.standard(.resilient)", .tags(.concurrent), .watched)
struct PluginStackResilienceTests {
    @Test("The resilient stack shows its plugins in order, and has no findings")
    func explanation() {
        let retry = RetryPlugin()
        let stack = PluginStack.standard(
            .cache(),
            .hedging(HedgingPlugin(after: .percentile(0.95), budget: retry.budget)),
            .cookies(),
            .resilient,
            .retries(retry),
            .fallback(FallbackPlugin { _ in nil })
        )
        let provider = Provider<Ask>(transport: ScriptedTransport([]), plugins: [stack])
        #expect(
            provider.plugins.map(\.name) == [
                "LoggingPlugin", "FallbackPlugin", "TimeoutPlugin", "RequestIDPlugin", "StaleFallbackPlugin",
                "RetryPlugin", "HedgingPlugin", "CookiePlugin", "CachePlugin", "CircuitBreakerPlugin",
                "RateLimitPlugin", "ConcurrencyLimitPlugin", "DeduplicationPlugin", "GzipPlugin",
            ]
        )
        #expect(provider.explain().findings == [])
    }

    @Test("The resilient stack has timeouts of its own, which another part replaces", arguments: [false, true])
    func timeouts(isFirst: Bool) async throws {
        let transport = ScriptedTransport([.status(200)])
        _ = try await Provider<Ask>(transport: transport, plugins: [.standard(.resilient)]).request(Ask())
        #expect(transport.sent.map(\.idleTimeout) == [.seconds(30)])
        #expect(transport.sent.map(\.attemptTimeout) == [.seconds(8)])
        let other = StandardPart.timeouts(TimeoutPlugin(attempt: .seconds(5)))
        let stack = isFirst ? PluginStack.standard(other, .resilient) : .standard(.resilient, other)
        let short = ScriptedTransport([.status(200)])
        _ = try await Provider<Ask>(transport: short, plugins: [stack]).request(Ask())
        #expect(short.sent.map(\.attemptTimeout) == [.seconds(5)])
        #expect(stack.plugins.count { $0 is TimeoutPlugin } == 1)
    }

    @Test("If a server hangs, all attempts end before the call does, and a stale response of the cache is served")
    func stale() async throws {
        let clock = ManualClock()
        let fresh = ScriptedTransport.Step.status(
            200,
            headers: [.cacheControl: "max-age=1, stale-if-error=600"],
            body: "stored"
        )
        let transport = ScriptedTransport { _, index in index == 0 ? fresh : .hang }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [.standard(.resilient, .cache())],
            configuration: .init(clock: clock, random: .seeded(3))
        )
        let response = try await clock.run {
            _ = try await provider.request(Ask())
            try await clock.sleep(for: .seconds(60))
            return try await provider.request(Ask())
        }
        #expect(try response.mapString() == "stored")
        #expect(response.isFallback || response.cacheStatus?.kind == .stale)
        #expect(transport.sent.count == 4)
    }

    @Test("A server that hangs gets one wave of requests until the circuit opens, and then calls fail at once")
    func deadServer() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(always: .hang)
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [.standard(.resilient)],
            configuration: .init(clock: clock, random: .seeded(1))
        )
        await clock.run {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask { _ = try? await provider.request(Ask(path: "/\(number)")) }
                }
            }
        }
        let sentCount = transport.sent.count
        #expect((100...120).contains(sentCount))
        let start = clock.now
        let error = await clock.run {
            await #expect(throws: PipelineError.self) { try await provider.request(Ask()) }
        }
        #expect(error?.code == .circuitOpen)
        #expect(clock.now == start)
        #expect(transport.sent.count == sentCount)
        #expect(provider.health.first { $0.plugin == "CircuitBreakerPlugin" }?.status == .unhealthy)
    }

    @Test("Two stacks made from one part share circuits; `.resilient` makes new ones")
    func sharing() throws {
        func state(_ part: StandardPart) -> CircuitState? {
            let breaker = PluginStack.standard(part).plugins.lazy.compactMap { $0 as? CircuitBreakerPlugin }.first
            return breaker?.state(of: "https://a.test")
        }
        let part = StandardPart.resilient
        let breaker = try #require(part.plugins[.breaker]?.plugins.first as? CircuitBreakerPlugin)
        breaker.isolate()
        #expect(state(part) == .isolated)
        #expect(state(.resilient) == .closed)
    }
}
