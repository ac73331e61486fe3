import Pipeline
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

/// A rate limit outside a concurrency limit, as in the standard order.
@Suite("RateLimitPlugin outside ConcurrencyLimitPlugin", .tags(.concurrent), .watched)
struct RateDepartureTests {
    private let clock = ManualClock()

    private func provider(_ server: SimulatedServer, _ plugins: any PluginType...) -> Provider<URLTarget> {
        Provider(transport: server, plugins: plugins, configuration: .init(clock: clock, random: .seeded(5)))
    }

    private func call(_ provider: Provider<URLTarget>, _ count: Int) async {
        await clock.run {
            await withDiscardingTaskGroup { group in
                for number in 0..<count {
                    group.addTask { _ = try? await provider.request(URLTarget("https://a.test/\(number)")) }
                }
            }
        }
    }

    @Test("A request counts from the moment it is sent, even if it waits for a permit after the rate limit")
    func counting() async {
        // Responses take from nothing to 2 s, so requests leave the queue for permits in waves.
        let server = SimulatedServer(
            on: clock,
            workers: 1_000,
            serviceTime: .uniform(.zero ... .seconds(2)),
            quota: 20
        )
        let limit = RateLimitPlugin(RateLimit(20, per: .seconds(1)))
        await call(provider(server, limit, ConcurrencyLimitPlugin(.fixed(10), queue: 1_000, maximumWait: nil)), 400)
        #expect(server.arrivals.count == 400)
        #expect(server.exceededCount == 0)
    }

    @Test("No request that waited for a permit is sent while the gate is closed")
    func gate() async {
        let transport = ScriptedTransport { _, index in
            index == 0
                ? .delayed(.seconds(1), .status(429, headers: [.retryAfter: "30"]))
                : .delayed(.seconds(2), .status(200))
        }
        let provider = Provider<URLTarget>(
            transport: transport,
            plugins: [
                RateLimitPlugin(), ConcurrencyLimitPlugin(.fixed(2), maximumWait: nil),
                .willSend { [clock] _, _ in #expect(clock.now.offset < .seconds(1) || clock.now.offset >= .seconds(31))
                },
            ],
            configuration: .init(clock: clock)
        )
        await clock.run {
            await withDiscardingTaskGroup { group in
                for number in 0..<10 {
                    group.addTask { _ = try? await provider.request(URLTarget("https://a.test/\(number)")) }
                }
            }
        }
        #expect(transport.sent.count == 10)
        #expect(provider.health.map(\.status) == [.healthy, .healthy])
    }

    @Test("A request that is refused after it passed the rate limit uses up no permits of it")
    func refusal() async {
        let transport = ScriptedTransport(always: .status(200))
        let refusing = PluginStack.exchange { request, _, send in
            if request.path.contains("refused") { throw PipelineError(.plugin, "refused") }
            return try await send(request)
        }
        let limit = RateLimitPlugin(RateLimit(1, per: .seconds(10)), maximumWait: .zero)
        let provider = Provider<URLTarget>(
            transport: transport,
            plugins: [limit, refusing],
            configuration: .init(clock: clock)
        )
        for _ in 0..<5 { _ = try? await provider.request(URLTarget("https://a.test/refused")) }
        await #expect(throws: Never.self) { try await provider.request(URLTarget("https://a.test/")) }
    }
}
