import Pipeline
import PipelinePlugins
import PipelineTesting

extension Scenario {
    private struct Side {
        var exceededCount = 0.0
        var highestCount = 0.0
        var share = 0.0
    }

    /// 10,000 calls at once, against a server that counts every window.
    ///
    /// - Parameters:
    ///   - jitter: the longest time that a request is on its way.
    ///   - share: the share of the quota that has to be used.
    ///   - scale: how many calls there are.
    /// - Returns: the figures.
    static func quota(jitter: Duration, share: Double, _ scale: Scale) async -> Scenario {
        var scenario = Scenario(
            "Quota, 0 to \(Int(jitter.milliseconds)) ms on the way",
            "\(scale.quotaCallCount) calls at once, a quota of 100 per second that the server counts over every second",
            sides: "RateLimitPlugin(RateLimit(100, per: .seconds(1))), against no plugin"
        )
        let with = await quotaSide([RateLimitPlugin(RateLimit(100, per: .seconds(1)))], jitter, scale)
        let without = await quotaSide([], jitter, scale)
        scenario.add(
            "requests beyond the quota",
            .count,
            .atMost(0),
            with: with.exceededCount,
            without: without.exceededCount
        )
        scenario.add(
            "most requests in a second",
            .count,
            .atMost(100),
            with: with.highestCount,
            without: without.highestCount
        )
        scenario.add("share of the quota used", .percent, .atLeast(share), with: with.share, without: without.share)
        return scenario
    }

    private static func quotaSide(_ plugins: [any PluginType], _ jitter: Duration, _ scale: Scale) async -> Side {
        let clock = ManualClock()
        let server = quotaServer(clock, jitter)
        let calls = Array(repeating: Call(moment: .zero), count: scale.quotaCallCount)
        _ = await Load(clock: clock, transport: server, plugins: plugins).run(calls)
        let arrivals = server.arrivals
        let span = ((arrivals.last ?? .zero) - (arrivals.first ?? .zero)).seconds
        return Side(
            exceededCount: Double(server.exceededCount),
            highestCount: Double(server.highestCount),
            // All calls together take at least this long, if each second has its full quota.
            share: min(1, Double(arrivals.count - 1) / 100 / max(span, 0.001))
        )
    }

    private static func quotaServer(_ clock: ManualClock, _ jitter: Duration) -> SimulatedServer {
        SimulatedServer(
            on: clock,
            workers: 64,
            serviceTime: .constant(.milliseconds(20)),
            travelTime: .uniform(.zero...jitter),
            quota: 100
        )
    }

    /// The requests in the second that ends at each moment, for callers that make 100 calls per second on average.
    static func quotaChart(_ scale: Scale) async -> Chart {
        let duration = Duration.seconds(scale.isQuick ? 10 : 60)
        func counts(_ plugins: [any PluginType]) async -> [Point] {
            let clock = ManualClock()
            let server = quotaServer(clock, .milliseconds(50))
            let calls = Load.calls(rate: 100, for: duration, seed: 11)
            _ = await Load(clock: clock, transport: server, plugins: plugins).run(calls)
            let arrivals = server.arrivals
            return stride(from: 1.0, through: duration.seconds, by: 0.25).map { end in
                let window = arrivals.count { $0.seconds > end - 1 && $0.seconds <= end }
                return Point(x: end, y: Double(window))
            }
        }
        let lines = [
            Chart.Line(label: "without", points: await counts([]), color: 1),
            Chart.Line(
                label: "RateLimitPlugin",
                points: await counts([RateLimitPlugin(RateLimit(100, per: .seconds(1)))]),
                color: 0
            ),
        ]
        return Chart(
            name: "quota",
            title: "100 calls per second at random, quota 100 per second",
            xTitle: "seconds",
            yTitle: "requests that the server got in the last second",
            lines: lines,
            marks: [("quota", 100)]
        )
    }
}
