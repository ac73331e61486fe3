import Pipeline
import PipelineResilience
import PipelineTesting

extension Scenario {
    private struct GateSide {
        var earlyCount = 0.0
        var busiestInterval = 0.0
        var points: [Point] = []
        /// From the moment until the last of the calls that waited for it has a response, in seconds.
        var resumption = 0.0
        var failureCount = 0.0
    }

    /// A server that responds with 429 from 10 s to 15 s, and says so.
    static func gate() async -> Scenario {
        var scenario = Scenario(
            "Gate after 429",
            "50 calls per second at random; from 10 s to 15 s, the server responds with 429 and Retry-After",
            sides: "RetryPlugin and RateLimitPlugin(RateLimit(200, per: .seconds(1))), against RetryPlugin alone"
        )
        let with = await gateSide([RetryPlugin(), RateLimitPlugin(RateLimit(200, per: .seconds(1)))])
        let without = await gateSide([RetryPlugin()])
        scenario.add(
            "requests sent between the first 429 and the moment",
            .count,
            .atMost(0),
            with: with.earlyCount,
            without: without.earlyCount
        )
        scenario.add(
            "most requests in 100 ms after the moment",
            .count,
            .atMost(40),
            with: with.busiestInterval,
            without: without.busiestInterval
        )
        scenario.add(
            "until all waiting calls have resumed",
            .seconds,
            .atLeast(0.9),
            with: with.resumption,
            without: without.resumption
        )
        scenario.add(
            "calls that failed",
            .count,
            .atMost(0),
            with: with.failureCount,
            without: without.failureCount
        )
        scenario.charts = [
            Chart(
                name: "gate",
                title: "A server that asks for a pause of 5 s",
                xTitle: "seconds",
                yTitle: "requests per second, in each 100 ms",
                lines: [
                    .init(label: "RetryPlugin alone", points: without.points, color: 1),
                    .init(label: "with RateLimitPlugin", points: with.points, color: 0),
                ],
                ceiling: 500,
                xLow: 8
            )
        ]
        return scenario
    }

    private static func gateSide(_ plugins: [any PluginType]) async -> GateSide {
        let (clock, pause) = (ManualClock(), Duration.seconds(10)..<Duration.seconds(15))
        let refusing = ScriptedTransport.Step.answer { request, _ in
            let wait = (pause.upperBound - clock.now.offset).seconds.rounded(.up)
            return PipelineResponse(request: request, statusCode: 429, headers: [.retryAfter: "\(Int(wait))"])
        }
        let server = SimulatedServer(on: clock, serviceTime: .constant(.milliseconds(20)), outages: [pause: refusing])
        let calls = Load.calls(rate: 50, for: .seconds(25), seed: 21)
        let receipts = await Load(clock: clock, transport: server, plugins: plugins).run(calls)
        let arrivals = server.arrivals
        let first = arrivals.first { $0 >= pause.lowerBound } ?? .zero
        let waiting = receipts.filter { pause.contains($0.call.moment) && $0.isSuccess }
        // Without travel times, requests arrive when they are sent and the first 429 is there at once.
        let points = rates(arrivals, every: .milliseconds(100), for: .seconds(25))
        return GateSide(
            earlyCount: Double(arrivals.count { $0 > first && $0 < pause.upperBound }),
            busiestInterval: (points.filter { $0.x > 15 }.map(\.y).max() ?? 0) / 10,
            points: points.filter { $0.x >= 8 && $0.x <= 20 },
            resumption: (waiting.map(\.end).max() ?? .zero).seconds - pause.upperBound.seconds,
            failureCount: Double(receipts.count { !$0.isSuccess })
        )
    }
}
