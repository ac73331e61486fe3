import Pipeline
import PipelineResilience
import PipelineTesting

extension Scenario {
    private struct OverloadSide {
        var goodput = 0.0
        var latency = 0.0
        var lateShare = 0.0
        var points: [Point] = []
    }

    /// Three times the load that a server can work on.
    static func overload() async -> Scenario {
        var scenario = Scenario(
            "Overload",
            "300 calls per second at random, 10 workers that complete 100 per second, and a deadline of 1 s",
            sides: "ConcurrencyLimitPlugin(.adaptive()) inside the timeout, against the timeout alone"
        )
        let duration = Duration.seconds(180)
        let timeout = TimeoutPlugin(total: .seconds(1))
        let with = await overloadSide([timeout, ConcurrencyLimitPlugin(.adaptive())], duration)
        let without = await overloadSide([timeout], duration)
        scenario.add(
            "responses in time, of the capacity",
            .percent,
            .atLeast(0.85),
            with: with.goodput,
            without: without.goodput
        )
        scenario.add("the same with the timeout alone", .percent, .atMost(0.5), with: without.goodput)
        scenario.add(
            "p99 of admitted calls",
            .milliseconds,
            .atMost(1_000),
            with: with.latency,
            without: without.latency
        )
        scenario.add(
            "admitted calls that miss the deadline",
            .percent,
            .atMost(0.1),
            with: with.lateShare,
            without: without.lateShare
        )
        scenario.charts = [
            Chart(
                name: "overload",
                title: "300 calls per second, capacity 100 per second",
                xTitle: "seconds",
                yTitle: "responses in time per second",
                lines: [
                    .init(label: "with a limit", points: with.points, color: 0),
                    .init(label: "timeout alone", points: without.points, color: 1),
                ],
                marks: [("capacity", 100)]
            )
        ]
        return scenario
    }

    private static func overloadSide(_ plugins: [any PluginType], _ duration: Duration) async -> OverloadSide {
        let clock = ManualClock()
        let server = SimulatedServer(
            on: clock,
            workers: 10,
            serviceTime: .exponential(mean: .milliseconds(100)),
            travelTime: .constant(.milliseconds(2))
        )
        let calls = Load.calls(rate: 300, for: duration, seed: 31)
        let receipts = await Load(clock: clock, transport: server, plugins: plugins).run(calls)
        let good = receipts.filter { $0.isSuccess && $0.time <= .seconds(1) }
        let admitted = receipts.filter { receipt in
            receipt.isSuccess || receipt.code == .timeout(.total) || receipt.code == .timeout(.attempt)
        }
        return OverloadSide(
            goodput: Double(good.count) / (100 * duration.seconds),
            latency: percentile(0.99, admitted.map(\.time.milliseconds)),
            lateShare: 1 - Double(good.count) / Double(admitted.count),
            points: rates(good.map(\.end), every: .seconds(1), for: .seconds(60))
        )
    }
}
