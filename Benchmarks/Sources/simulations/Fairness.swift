import Pipeline
import PipelinePlugins
import PipelineTesting

extension Scenario {
    private static let priorities: [(name: String, priority: TrafficPriority, rate: Double)] = [
        ("low", .low, 30), ("normal", .normal, 60), ("high", .high, 80),
    ]

    private struct FairnessSide {
        /// The share of all responses that each priority got, the lowest first.
        var shares: [Double] = []
        /// The p99 of the waits of admitted calls of each priority.
        var waits: [Double] = []
        var overtakenCount = 0.0
    }

    /// Three priorities that together want 1.7 times the capacity.
    static func fairness(_ scale: Scale) async -> Scenario {
        let minutes = scale.isQuick ? 1 : 10
        var scenario = Scenario(
            "Fairness",
            "30 low, 60 normal and 80 high calls per second for \(minutes) minutes, capacity 100, deadlines of 5 s",
            sides: "ConcurrencyLimitPlugin(.fixed(10)) with priorities, against the same without"
        )
        let with = await fairnessSide(withPriorities: true, minutes)
        let without = await fairnessSide(withPriorities: false, minutes)
        scenario.add(
            "calls that expired while later ones of their class were admitted",
            .count,
            .atMost(0),
            with: with.overtakenCount,
            without: without.overtakenCount
        )
        scenario.add(
            "share of the low class",
            .percent,
            .atLeast(0.095),
            with: with.shares[0],
            without: without.shares[0]
        )
        scenario.add(
            "share of the normal class",
            .percent,
            .atLeast(0.095),
            with: with.shares[1],
            without: without.shares[1]
        )
        scenario.add(
            "p99 wait of the high class",
            .milliseconds,
            .atMost(500),
            with: with.waits[2],
            without: without.waits[2]
        )
        scenario.add(
            "p99 wait of the low class",
            .milliseconds,
            .atMost(5_000),
            with: with.waits[0],
            without: without.waits[0]
        )
        return scenario
    }

    private static func fairnessSide(withPriorities: Bool, _ minutes: Int) async -> FairnessSide {
        let clock = ManualClock()
        let service = Duration.milliseconds(100)
        let server = SimulatedServer(on: clock, workers: 10, serviceTime: .constant(service))
        var calls: [Call] = []
        for (group, item) in priorities.enumerated() {
            for var call in Load.calls(rate: item.rate, for: .seconds(60 * minutes), seed: 51 + UInt64(group)) {
                if withPriorities { call.options.priority = item.priority }
                call.group = group
                calls.append(call)
            }
        }
        calls.sort { $0.moment < $1.moment }
        let plugins: [any PluginType] = [
            TimeoutPlugin(total: .seconds(5)), ConcurrencyLimitPlugin(.fixed(10), queue: 1_000),
        ]
        let receipts = await Load(clock: clock, transport: server, plugins: plugins).run(calls)
        var side = FairnessSide()
        let goodCount = receipts.count(where: \.isSuccess)
        for group in priorities.indices {
            let own = receipts.filter { $0.call.group == group }
            let good = own.filter(\.isSuccess)
            side.shares.append(Double(good.count) / Double(goodCount))
            side.waits.append(percentile(0.99, good.map { ($0.time - service).milliseconds }))
            side.overtakenCount += Double(overtakenCount(own, service))
        }
        return side
    }

    /// Returns how many calls were refused although a later call of the same class had been admitted before.
    private static func overtakenCount(_ receipts: [Receipt], _ service: Duration) -> Int {
        // Read from the last call on: the earliest admission of all later calls.
        var earliest = Duration.seconds(1_000_000)
        var count = 0
        for receipt in receipts.reversed() {
            if receipt.isSuccess {
                earliest = min(earliest, receipt.end - service)
            } else if earliest < receipt.end {
                count += 1
            }
        }
        return count
    }
}
