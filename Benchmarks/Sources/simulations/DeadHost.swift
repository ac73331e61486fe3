import Pipeline
import PipelineResilience
import PipelineTesting

extension Scenario {
    private struct DeadHostSide {
        var reachedCount = 0.0
        var recovery = 0.0
        var otherFailureCount = 0.0
        var otherLatency = 0.0
        var failureTime = 0.0
        var points: [Point] = []
    }

    /// A host that does not respond for 10 minutes, beside one that does.
    static func deadHost() async -> Scenario {
        let minutes = 10
        var scenario = Scenario(
            "Dead host",
            "10 calls per second to each of two hosts, of which one does not respond for \(minutes) minutes",
            sides: "TimeoutPlugin(attempt: .seconds(1)) and CircuitBreakerPlugin(), against the timeout alone"
        )
        let timeout = TimeoutPlugin(attempt: .seconds(1))
        let with = await deadHostSide([timeout, CircuitBreakerPlugin()], minutes)
        let without = await deadHostSide([timeout], minutes)
        // A probe every 5 s, and the minimum number of calls before the breaker opens.
        let bound = Double(minutes * 60 / 5 + 100)
        scenario.add(
            "requests that reached the dead host",
            .count,
            .atMost(bound),
            with: with.reachedCount,
            without: without.reachedCount
        )
        scenario.add(
            "from its return to the first response",
            .seconds,
            .atMost(6),
            with: with.recovery,
            without: without.recovery
        )
        scenario.add(
            "median wait of a call that fails",
            .milliseconds,
            .atMost(1),
            with: with.failureTime,
            without: without.failureTime
        )
        scenario.add(
            "failures of the other host",
            .count,
            .atMost(0),
            with: with.otherFailureCount,
            without: without.otherFailureCount
        )
        scenario.charts = [
            Chart(
                name: "dead-host",
                title: "A host that does not respond",
                xTitle: "seconds",
                yTitle: "requests per second that reach it",
                lines: [
                    .init(label: "without", points: without.points, color: 1),
                    .init(label: "with a breaker", points: with.points, color: 0),
                ]
            )
        ]
        return scenario
    }

    private static func deadHostSide(_ plugins: [any PluginType], _ minutes: Int) async -> DeadHostSide {
        let clock = ManualClock()
        let end = Duration.seconds(60 + 60 * minutes)
        let outage = Duration.seconds(60)..<end
        let dead = SimulatedServer(on: clock, serviceTime: .constant(.milliseconds(20)), outages: [outage: .hang])
        let other = SimulatedServer(on: clock, serviceTime: .constant(.milliseconds(20)), seed: 2)
        let hosts = Hosts(servers: ["dead.test": dead, "other.test": other])
        var calls: [Call] = []
        for (group, host) in ["dead.test", "other.test"].enumerated() {
            for var call in Load.calls(rate: 10, for: end + .seconds(30), seed: 41 + UInt64(group)) {
                call.url = "https://\(host)/"
                call.group = group
                calls.append(call)
            }
        }
        calls.sort { $0.moment < $1.moment }
        let receipts = await Load(clock: clock, transport: hosts, plugins: plugins).run(calls)
        let first = receipts.filter { $0.call.group == 0 && $0.isSuccess && $0.end >= end }.map(\.end).min()
        let failed = receipts.filter { $0.call.group == 0 && !$0.isSuccess }
        let others = receipts.filter { $0.call.group == 1 }
        return DeadHostSide(
            reachedCount: Double(dead.arrivals.count { outage.contains($0) }),
            recovery: ((first ?? .seconds(3_600)) - end).seconds,
            otherFailureCount: Double(others.count { !$0.isSuccess }),
            otherLatency: percentile(0.99, others.map(\.time.milliseconds)),
            failureTime: percentile(0.5, failed.map(\.time.milliseconds)),
            points: rates(dead.arrivals, every: .seconds(5), for: end + .seconds(30))
        )
    }
}
