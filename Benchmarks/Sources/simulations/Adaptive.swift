import Pipeline
import PipelineResilience
import PipelineTesting

extension Scenario {
    private struct Knee {
        let workers: Int
        let serviceTime: SimulatedServer.Timing
        let text: String
        let callers: Int
    }

    private static let knees = [
        Knee(workers: 16, serviceTime: .exponential(mean: .milliseconds(20)), text: "16 workers, 20 ms", callers: 400),
        Knee(
            workers: 40,
            serviceTime: .uniform(.milliseconds(20) ... .milliseconds(80)),
            text: "40 workers, 50 ms",
            callers: 400
        ),
        Knee(workers: 100, serviceTime: .constant(.milliseconds(200)), text: "100 workers, 200 ms", callers: 400),
    ]

    /// Three servers with limits that the plugin does not know, and that halve.
    static func adaptive() async -> Scenario {
        let half = Duration.seconds(120)
        var scenario = Scenario(
            "Adaptive limit",
            "three servers under full load, whose workers halve after 120 s",
            sides: "ConcurrencyLimitPlugin(.adaptive()), against no plugin"
        )
        var lines: [Chart.Line] = []
        for (index, knee) in knees.enumerated() {
            let limit = ConcurrencyLimitPlugin(.adaptive(), queue: 1_000, maximumWait: nil)
            let with = await inFlight([limit], knee, half)
            let without = await inFlight([], knee, half)
            for (name, seconds, workers) in [("", 60..<120, knee.workers), (", halved", 180..<240, knee.workers / 2)] {
                func deviation(_ means: [Double]) -> Double {
                    let mean = means[seconds].reduce(0, +) / Double(seconds.count)
                    return abs(mean / Double(workers) - 1)
                }
                scenario.add(
                    "\(knee.text)\(name): limit off the knee of \(workers) by",
                    .percent,
                    .atMost(0.2),
                    with: deviation(with),
                    without: deviation(without)
                )
            }
            let halved = Double(knee.workers / 2)
            let adapted = (120..<235).first { start in
                abs(with[start..<start + 5].reduce(0, +) / 5 / halved - 1) <= 0.2
            }
            scenario.add(
                "\(knee.text): until the limit has followed",
                .seconds,
                .atMost(60),
                with: Double((adapted ?? 1_120) - 120)
            )
            let points = with.enumerated().map { Point(x: Double($0) + 0.5, y: $1 / Double(knee.workers)) }
            lines.append(.init(label: knee.text, points: points, color: [0, 2, 3][index]))
        }
        scenario.charts = [
            Chart(
                name: "adaptive",
                title: "An adaptive limit finds the capacity, which halves after 120 s",
                xTitle: "seconds",
                yTitle: "requests in flight for each worker before",
                lines: lines,
                marks: [("", 1), ("", 0.5)],
                ceiling: 2
            )
        ]
        return scenario
    }

    /// Returns the mean number of requests in flight in each second.
    private static func inFlight(_ plugins: [any PluginType], _ knee: Knee, _ half: Duration) async -> [Double] {
        let clock = ManualClock()
        let server = SimulatedServer(
            on: clock,
            workers: knee.workers,
            workersLater: [half: knee.workers / 2],
            serviceTime: knee.serviceTime
        )
        let gauge = Gauge(server, on: clock)
        await Load(clock: clock, transport: gauge, plugins: plugins).run(callers: knee.callers, until: half * 2)
        return gauge.means(for: half * 2)
    }
}
