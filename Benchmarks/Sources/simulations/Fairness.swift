import Pipeline
import PipelineResilience
import PipelineTesting

extension Scenario {
    private static let priorities: [(name: String, priority: TrafficPriority, rate: Double)] = [
        ("low", .low, 50), ("normal", .normal, 60), ("high", .high, 60),
    ]

    private struct FairnessSide {
        /// The share of all responses that each priority got, the lowest first.
        var shares: [Double] = []
        /// The p99 of the waits of admitted calls of each priority.
        var waits: [Double] = []
        /// Their medians.
        var medians: [Double] = []
        var overtakenCount = 0.0
        /// The mean wait of each priority over time.
        var points: [[Point]] = []
    }

    /// Three priorities that together want 1.7 times the capacity.
    static func fairness() async -> Scenario {
        let minutes = 10
        var scenario = Scenario(
            "Fairness",
            "50 low, 60 normal and 60 high calls per second for \(minutes) minutes, capacity 100, deadlines of 5 s",
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
        for (group, item) in priorities.enumerated() {
            scenario.add(
                "median wait of the \(item.name) class",
                .milliseconds,
                with: with.medians[group],
                without: without.medians[group]
            )
        }
        scenario.charts = [
            Chart(
                name: "fairness",
                title: "170 calls per second of three priorities, capacity 100",
                xTitle: "seconds",
                yTitle: "mean wait of admitted calls in seconds",
                lines: [
                    .init(label: "low", points: with.points[0], color: 3),
                    .init(label: "normal", points: with.points[1], color: 2),
                    .init(label: "high", points: with.points[2], color: 0),
                    .init(label: "all, no priorities", points: without.points[2], color: 1),
                ]
            )
        ]
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
            side.medians.append(percentile(0.5, good.map { ($0.time - service).milliseconds }))
            side.points.append(meanWaits(good, service, minutes))
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

    /// Returns the mean wait of the calls that begin in each 10 s, in seconds.
    private static func meanWaits(_ receipts: [Receipt], _ service: Duration, _ minutes: Int) -> [Point] {
        (0..<6 * minutes).compactMap { index in
            let range = Duration.seconds(10 * index) ..< .seconds(10 * index + 10)
            let waits = receipts.filter { range.contains($0.call.moment) }.map { ($0.time - service).seconds }
            guard !waits.isEmpty else { return nil }
            return Point(x: Double(10 * index + 5), y: waits.reduce(0, +) / Double(waits.count))
        }
    }
}
