import Pipeline
import PipelineResilience
import PipelineTesting

extension Scenario {
    private struct HedgingSide {
        var times: [Double] = []
        var additional = 0.0

        func time(_ share: Double) -> Double { percentile(share, times) }
    }

    /// A server that is slow once in a hundred times.
    static func hedging() async -> Scenario {
        let count = 20_000
        var scenario = Scenario(
            "Hedging",
            "\(count) calls at 100 per second; a response takes 5 to 15 ms, and 1 of 100 takes a second longer",
            sides: "HedgingPlugin(), against no plugin"
        )
        let with = await hedgingSide([HedgingPlugin()], count, .get)
        let without = await hedgingSide([], count, .get)
        let posts = await hedgingSide([HedgingPlugin()], count, .post)
        let aim = 0.2 * without.time(0.99)
        scenario.add("p50", .milliseconds, .atMost(12), with: with.time(0.5), without: without.time(0.5))
        scenario.add("p99", .milliseconds, .atMost(aim), with: with.time(0.99), without: without.time(0.99))
        scenario.add(
            "p99.9",
            .milliseconds,
            .atMost(0.2 * without.time(0.999)),
            with: with.time(0.999),
            without: without.time(0.999)
        )
        scenario.add("additional requests", .percent, .atMost(0.02), with: with.additional, without: without.additional)
        scenario.add(
            "additional requests for POST without a key",
            .percent,
            .atMost(0),
            with: posts.additional,
            without: without.additional
        )
        scenario.charts = [hedgingChart(with, without)]
        return scenario
    }

    private static func hedgingChart(_ with: HedgingSide, _ without: HedgingSide) -> Chart {
        func points(_ side: HedgingSide) -> [Point] {
            let times = side.times.sorted()
            return stride(from: 0.97, through: 0.9999, by: 0.0001).map { share in
                Point(x: 100 * share, y: times[min(Int(share * Double(times.count)), times.count - 1)])
            }
        }
        return Chart(
            name: "hedging",
            title: "1 of 100 responses takes a second longer",
            xTitle: "percent of the calls, the fastest first",
            yTitle: "ms until the response",
            lines: [
                .init(label: "without", points: points(without), color: 1),
                .init(label: "with hedging", points: points(with), color: 0),
            ],
            xLow: 97
        )
    }

    private static func hedgingSide(
        _ plugins: [any PluginType],
        _ count: Int,
        _ method: HTTPRequest.Method
    ) async -> HedgingSide {
        let clock = ManualClock()
        let server = SimulatedServer(
            on: clock,
            workers: 1_000,
            serviceTime: .uniform(.milliseconds(5) ... .milliseconds(15)).slow(0.01, by: .seconds(1)),
            // With this seed, slightly more than 1 of 100 responses is slow, so that p99 is one of them.
            seed: 47
        )
        let calls = (0..<count).map { Call(moment: .milliseconds(10 * $0), method: method) }
        let receipts = await Load(clock: clock, transport: server, plugins: plugins).run(calls)
        return HedgingSide(
            times: receipts.map(\.time.milliseconds),
            additional: Double(server.arrivals.count) / Double(count) - 1
        )
    }
}
