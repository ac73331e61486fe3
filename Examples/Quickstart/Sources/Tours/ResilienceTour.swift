import Pipeline
import PipelineResilience
import PipelineTesting

/// A tour of a bad day of a server, in virtual time: with a timeout alone, and with the plugins for servers in trouble.
///
/// The server completes 20 requests per second, gets 60 for a minute, and does not respond for 20 s of it.
struct ResilienceTour {
    private static let capacity = 20
    private static let outage = Duration.seconds(20) ..< .seconds(40)
    private static let deadline = Duration.seconds(2)

    /// How a day has gone.
    private struct Day {
        /// The time until each response with status 200, in order.
        var times: [Duration]
        var reachedCount: Int

        /// The responses as a share of what the server can complete while it is up.
        var goodput: Double { Double(times.count) / Double(ResilienceTour.capacity * 40) }
        var slowest: Duration { times.isEmpty ? .zero : times[times.count * 99 / 100] }
    }

    func run() async throws {
        heading("A minute of overload and an outage, in virtual time: the plugins for servers in trouble")
        let alone = await day([TimeoutPlugin(total: Self.deadline)])
        let together = await day([
            TimeoutPlugin(attempt: .seconds(1), total: Self.deadline),
            RetryPlugin(),
            CircuitBreakerPlugin(
                failureRatio: 0.5,
                minimumCallCount: 10,
                window: .time(.seconds(5)),
                breakDuration: .seconds(2)
            ),
            // A call that has waited for longer would end before the timeout of its attempt, which the breaker counts.
            ConcurrencyLimitPlugin(.fixed(4), maximumWait: .seconds(1)),
        ])
        row("", "timeout alone", "with plugins")
        row("responses, of the server's capacity", "\(percent(alone.goodput))", "\(percent(together.goodput))")
        row(
            "p99 of the responses",
            PipelineError.text(of: alone.slowest),
            PipelineError.text(of: together.slowest)
        )
        row("requests that reached the dead server", "\(alone.reachedCount)", "\(together.reachedCount)")
        try expect(alone.goodput < 0.5, "a timeout alone does not help an overloaded server")
        try expect(together.goodput > 0.9, "the plugins keep the server busy with calls whose callers still wait")
        try expect(together.slowest <= Self.deadline, "responses arrive before the deadline")
        try expect(together.reachedCount * 10 < alone.reachedCount, "few requests reach the dead server")
    }

    /// Makes 60 calls per second for a minute.
    private func day(_ plugins: [any PluginType]) async -> Day {
        let clock = ManualClock()
        let server = SimulatedServer(
            on: clock,
            workers: 4,
            serviceTime: .constant(.milliseconds(200)),
            outages: [Self.outage: .hang]
        )
        let configuration = ProviderConfiguration(clock: clock, random: .seeded(1))
        let provider = Provider<URLTarget>(transport: server, plugins: plugins, configuration: configuration)
        let times = await clock.run {
            await withTaskGroup(of: Duration?.self) { group in
                for call in 0..<3_600 {
                    group.addTask {
                        let start = clock.now
                        let response = try? await provider.request(URLTarget("https://shop.example/items/\(call)"))
                        return response.map { _ in start.duration(to: clock.now) }
                    }
                    try? await clock.sleep(for: .seconds(1) / 60)
                }
                return await group.reduce(into: [Duration]()) { times, time in if let time { times.append(time) } }
            }
        }
        return Day(times: times.sorted(), reachedCount: server.arrivals.count { Self.outage.contains($0) })
    }

    private func row(_ name: String, _ alone: String, _ together: String) {
        say("  " + padded(name, to: 40) + padded(alone, to: 16) + together)
    }

    private func percent(_ share: Double) -> String { "\(Int((100 * share).rounded())) %" }
}
