/// The costs of all rounds of an analysis.
struct AnalysisSamples {
    typealias Cost = CallCosts.Cost

    /// The costs of one part of a call.
    struct Series {
        private var costs: [Cost] = []
        /// Those of the rounds in which they could be counted.
        private var allocations: [Int] = []

        mutating func add(_ cost: Cost, isCounted: Bool, lessPerRun empty: Int = 0) {
            var cost = cost
            cost.nanoseconds = max(0, cost.nanoseconds - empty * Int(cost.runs))
            costs.append(cost)
            if isCounted { allocations.append(cost.allocations) }
        }

        mutating func add(from begin: SpanCost.Reading, to end: SpanCost.Reading) {
            let cost = Cost(
                runs: 1,
                nanoseconds: begin.time.duration(to: end.time).wholeNanoseconds,
                allocations: end.allocations - begin.allocations
            )
            add(cost, isCounted: begin.thread == end.thread)
        }

        /// Whether allocations could be counted in at least one round, if there were any rounds.
        var isCounted: Bool { costs.isEmpty || !allocations.isEmpty }

        /// The average number of runs, the median times and the fewest allocations.
        var cost: Cost {
            Cost(
                runs: costs.isEmpty ? 0 : costs.reduce(0) { $0 + $1.runs } / Double(costs.count),
                nanoseconds: costs.map(\.nanoseconds).middle ?? 0,
                waitNanoseconds: costs.map(\.waitNanoseconds).middle ?? 0,
                allocations: allocations.min() ?? 0
            )
        }
    }

    private let stages: [(plugin: String, stages: [Stage.Kind])]
    private var series: [CallCosts.StageKey: Series] = [:]
    private var exchanges = Series()
    private(set) var rounds = 0
    var total = Series()
    var transport = Series()
    var yardsticks: [Double] = []
    /// How long a span is in which nothing happens, in nanoseconds.
    var emptySpan = 0

    init(_ plugins: [any PluginType]) {
        stages = plugins.map { ($0.name, Stage.Kind.all(of: $0)) }
    }

    mutating func add(_ costs: CallCosts) {
        rounds += 1
        for (plugin, row) in stages.enumerated() {
            for stage in row.stages {
                let key = CallCosts.StageKey(plugin: plugin, stage: stage.rawValue)
                let cost = costs.stages[key] ?? Cost()
                series[key, default: Series()].add(cost, isCounted: costs.isCounted, lessPerRun: emptySpan)
            }
        }
        exchanges.add(costs.exchanges, isCounted: costs.isCounted, lessPerRun: emptySpan)
    }

    /// Whether allocations could be counted in at least one round.
    var isCounted: Bool { [exchanges, total, transport].allSatisfy(\.isCounted) }

    /// Returns the analysis of all rounds.
    func analysis(of name: String, over transportName: String, countsAllocations: Bool) -> PipelineAnalysis {
        let (sum, wire, alone) = (total.cost, exchanges.cost, transport.cost)
        let yardstick = yardsticks.middle ?? 0
        func row(_ name: String, _ cost: Cost, _ stages: [PipelineAnalysis.Row] = []) -> PipelineAnalysis.Row {
            PipelineAnalysis.Row(
                name: name,
                runs: cost.runs,
                allocations: cost.allocations,
                share: sum.nanoseconds > 0 ? Double(cost.nanoseconds) / Double(sum.nanoseconds) : 0,
                yardsticks: yardstick > 0 ? Double(cost.nanoseconds) / yardstick : 0,
                stages: stages,
                nanoseconds: cost.nanoseconds,
                waitNanoseconds: cost.waitNanoseconds
            )
        }
        var rest = sum
        let plugins = stages.enumerated().map { index, plugin in
            var all = Cost()
            var runs = 0.0
            let stages = plugin.stages.map { stage in
                let cost = series[CallCosts.StageKey(plugin: index, stage: stage.rawValue)]?.cost ?? Cost()
                all += cost
                runs = max(runs, cost.runs)
                return row(stage.rawValue, cost)
            }
            all.runs = runs
            rest -= all
            return row(plugin.plugin, all, stages)
        }
        rest -= wire
        var overhead = sum
        overhead -= alone
        return PipelineAnalysis(
            name: name,
            transportName: transportName,
            plugins: plugins,
            exchanges: row("exchanges", wire),
            core: row("core", rest),
            total: row("total", sum),
            transport: row("transport alone", alone),
            overhead: row("above the transport", overhead),
            yardstick: yardstick,
            rounds: rounds,
            countsAllocations: countsAllocations
        )
    }
}

extension Array where Element: Comparable {
    /// The median, the upper one of two.
    var middle: Element? { isEmpty ? nil : sorted()[count / 2] }
}

extension Duration {
    var wholeNanoseconds: Int { Int((self / .nanoseconds(1)).rounded()) }
}
