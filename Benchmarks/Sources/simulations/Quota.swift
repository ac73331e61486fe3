import Pipeline
import PipelineResilience
import PipelineTesting

extension Scenario {
    private struct Side {
        var exceededCount = 0.0
        var highestCount = 0.0
        var share = 0.0
    }

    /// Where the time of a request and its response goes.
    enum Way {
        /// The request is delayed by up to a time, and the response is there at once.
        case there(Duration)
        /// Both are delayed by up to 50 ms, and the server works for 20 ms.
        case thereAndBack
    }

    /// 10,000 calls at once, against a server that counts every window.
    static func quota(_ way: Way, share: Double) async -> Scenario {
        let (title, jitter) =
            switch way {
            case .there(let longest): ("requests arrive 0 to \(Int(longest.milliseconds)) ms late", longest)
            case .thereAndBack: ("0 to 50 ms in both directions, 20 ms of work", Duration.milliseconds(50))
            }
        var scenario = Scenario(
            "Quota, \(title)",
            "10000 calls at once, a quota of 100 per second that the server counts over every second",
            sides:
                "RateLimitPlugin(RateLimit(100, per: .seconds(1), jitter: .milliseconds(\(Int(jitter.milliseconds))))), against no plugin"
        )
        let with = await quotaSide([limit(jitter)], way)
        let without = await quotaSide([], way)
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

    private static func limit(_ jitter: Duration) -> RateLimitPlugin {
        RateLimitPlugin(RateLimit(100, per: .seconds(1), jitter: jitter))
    }

    private static func quotaSide(_ plugins: [RateLimitPlugin], _ way: Way) async -> Side {
        let clock = ManualClock()
        let (server, transport) = quotaServer(clock, way)
        let calls = Array(repeating: Call(moment: .zero), count: 10_000)
        _ = await Load(clock: clock, transport: transport, plugins: plugins).run(calls)
        let arrivals = server.arrivals
        let span = ((arrivals.last ?? .zero) - (arrivals.first ?? .zero)).seconds
        return Side(
            exceededCount: Double(server.exceededCount),
            highestCount: Double(server.highestCount),
            // All calls together take at least this long, if each second has its full quota.
            share: min(1, Double(arrivals.count - 1) / 100 / max(span, 0.001))
        )
    }

    private static func quotaServer(_ clock: ManualClock, _ way: Way) -> (SimulatedServer, any Transport) {
        switch way {
        case .there(let longest):
            let server = SimulatedServer(on: clock, serviceTime: .constant(.zero), quota: 100)
            return (server, DelayedRequests(transport: server, clock: clock, longest: longest))
        case .thereAndBack:
            let server = SimulatedServer(
                on: clock,
                workers: 64,
                serviceTime: .constant(.milliseconds(20)),
                travelTime: .uniform(.zero ... .milliseconds(50)),
                quota: 100
            )
            return (server, server)
        }
    }

    /// The requests in the second that ends at each moment, for callers that make 100 calls per second on average.
    static func quotaChart() async -> Chart {
        let duration = Duration.seconds(60)
        func counts(_ plugins: [RateLimitPlugin]) async -> [Point] {
            let clock = ManualClock()
            let (server, transport) = quotaServer(clock, .thereAndBack)
            let calls = Load.calls(rate: 100, for: duration, seed: 11)
            _ = await Load(clock: clock, transport: transport, plugins: plugins).run(calls)
            let arrivals = server.arrivals
            return stride(from: 1.0, through: duration.seconds, by: 0.25).map { end in
                let window = arrivals.count { $0.seconds > end - 1 && $0.seconds <= end }
                return Point(x: end, y: Double(window))
            }
        }
        let lines = [
            Chart.Line(label: "without", points: await counts([]), color: 1),
            Chart.Line(label: "RateLimitPlugin", points: await counts([limit(.milliseconds(50))]), color: 0),
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
