import Pipeline
import PipelineResilience
import PipelineTesting

/// An outage of a server in virtual time, with a timeout alone and with the parts of `.resilient`.
///
/// The program makes 50 calls per second for a minute. For 20 s of it, the server accepts requests and never responds.
struct OutageTour {
    private static let outage = Duration.seconds(20) ..< .seconds(40)
    private static let rate = 50

    /// How the calls have gone.
    private struct Minute {
        /// The calls that failed: when they began, and how long they took.
        let failures: [(start: Duration, time: Duration)]
        let reachedCount: Int

        var succeededCount: Int { 60 * OutageTour.rate - failures.count }
        /// The time that half of the failed calls took at most.
        var medianFailure: Duration { failures.map(\.time).sorted()[failures.count / 2] }
        /// The calls that failed although the server was up again.
        var lateFailureCount: Int { failures.count { $0.start >= OutageTour.outage.upperBound } }
        /// The calls of the outage that succeeded.
        var savedCount: Int {
            20 * OutageTour.rate - failures.count { OutageTour.outage.contains($0.start) }
        }
    }

    func run() async throws {
        heading("An outage: a server never responds for 20 s (in virtual time)")
        let alone = await minute([TimeoutPlugin(total: .seconds(30))])
        let resilient = await minute([PluginStack.standard(.resilient, logging: .off)])
        row("with", "a timeout alone", ".standard(.resilient)")
        row("requests that the dead server got", "\(alone.reachedCount)", "\(resilient.reachedCount)")
        row(
            "half of the failed calls end within",
            PipelineError.text(of: alone.medianFailure),
            PipelineError.text(of: resilient.medianFailure)
        )
        row("calls that succeeded, of \(60 * Self.rate)", "\(alone.succeededCount)", "\(resilient.succeededCount)")
        let (late, saved) = (resilient.lateFailureCount, resilient.savedCount)
        say("\n  When the first calls have timed out, the circuit breaker opens: calls fail at once, and the")
        say("  server gets only probes. Nearly as many calls succeed: \(saved) of the outage do so in a retry, and")
        say("  \(late) after it are refused before a probe succeeds.")
        try expect(resilient.reachedCount * 3 < alone.reachedCount, "few requests reach the dead server")
        try expect(resilient.medianFailure < .seconds(1), "half of the calls that fail do so within a second")
        try expect(resilient.succeededCount * 100 > alone.succeededCount * 95, "nearly as many calls succeed")
    }

    private func minute(_ plugins: [any PluginType]) async -> Minute {
        let clock = ManualClock()
        let server = SimulatedServer(
            on: clock,
            workers: 100,
            serviceTime: .constant(.milliseconds(100)),
            outages: [Self.outage: .hang]
        )
        let configuration = ProviderConfiguration(clock: clock, random: .seeded(1))
        let provider = Provider<URLTarget>(transport: server, plugins: plugins, configuration: configuration)
        let failures = await clock.run {
            let minute = clock.now
            return await withTaskGroup(of: (start: Duration, time: Duration)?.self) { group in
                for call in 0..<60 * Self.rate {
                    group.addTask {
                        let start = clock.now
                        let response = try? await provider.request(URLTarget("https://shop.example/items/\(call)"))
                        return response == nil ? (minute.duration(to: start), start.duration(to: clock.now)) : nil
                    }
                    try? await clock.sleep(for: .seconds(1) / Self.rate)
                }
                return await group.compactMap(\.self).reduce(into: []) { $0.append($1) }
            }
        }
        return Minute(failures: failures, reachedCount: server.arrivals.count { Self.outage.contains($0) })
    }

    private func row(_ name: String, _ alone: String, _ resilient: String) {
        say("  " + padded(name, to: 40) + padded(alone, to: 18) + resilient)
    }
}
