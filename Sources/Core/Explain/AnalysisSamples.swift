/// The figures of all rounds of an analysis.
struct AnalysisSamples {
    /// The figures of one part of a call.
    struct Series {
        var nanoseconds: [Int] = []
        var waitNanoseconds: [Int] = []
        /// Those of the rounds in which they could be counted.
        var allocations: [Int] = []
        var runCount = 0

        mutating func add(_ cost: CallCosts.Cost, isCounted: Bool, lessPerRun empty: Duration = .zero) {
            nanoseconds.append(max(.zero, cost.time - empty * cost.runs).wholeNanoseconds)
            waitNanoseconds.append(cost.wait.wholeNanoseconds)
            if isCounted { allocations.append(cost.allocations) }
            runCount += cost.runs
        }

        mutating func add(from begin: SpanCost.Reading, to end: SpanCost.Reading) {
            let cost = CallCosts.Cost(
                runs: 1,
                time: begin.time.duration(to: end.time),
                allocations: end.allocations - begin.allocations
            )
            add(cost, isCounted: begin.thread == end.thread)
        }
    }

    private let stages: [(plugin: String, stages: [Stage.Kind])]
    private var series: [CallCosts.StageKey: Series] = [:]
    private var exchanges = Series()
    private(set) var rounds = 0
    var total = Series()
    var transport = Series()
    var yardsticks: [Double] = []
    /// How long a span is in which nothing happens.
    var emptySpan = Duration.zero

    init(_ plugins: [any PluginType]) {
        stages = plugins.map { ($0.name, Stage.Kind.all(of: $0)) }
    }

    mutating func add(_ costs: CallCosts) {
        rounds += 1
        for (plugin, row) in stages.enumerated() {
            for stage in row.stages {
                let key = CallCosts.StageKey(plugin: plugin, stage: stage.rawValue)
                let cost = costs.stages[key] ?? CallCosts.Cost()
                series[key, default: Series()].add(cost, isCounted: costs.isCounted, lessPerRun: emptySpan)
            }
        }
        exchanges.add(costs.exchanges, isCounted: costs.isCounted, lessPerRun: emptySpan)
    }

    /// Whether allocations could be counted in at least one round.
    var isCounted: Bool {
        !exchanges.allocations.isEmpty && !total.allocations.isEmpty
            && (transport.nanoseconds.isEmpty || !transport.allocations.isEmpty)
    }

    /// Returns the analysis of all rounds.
    func analysis(of name: String, over transportName: String, countsAllocations: Bool) -> PipelineAnalysis {
        let sum = Figures(total, rounds)
        let unit = Unit(total: sum.nanoseconds, yardstick: yardsticks.middle ?? 0)
        var rest = sum
        let plugins = stages.enumerated().map { index, plugin in
            var all = Figures()
            let stages = plugin.stages.map { stage in
                let key = CallCosts.StageKey(plugin: index, stage: stage.rawValue)
                let figures = Figures(series[key] ?? Series(), rounds)
                all.add(figures)
                return figures.row(stage.rawValue, unit)
            }
            rest.subtract(all)
            return all.row(plugin.plugin, unit, stages)
        }
        let wire = Figures(exchanges, rounds)
        let alone = Figures(transport, rounds)
        var overhead = sum
        overhead.subtract(alone)
        rest.subtract(wire)
        return PipelineAnalysis(
            name: name,
            transportName: transportName,
            plugins: plugins,
            exchanges: wire.row("exchanges", unit),
            core: rest.row("core", unit),
            total: sum.row("total", unit),
            transport: alone.row("transport alone", unit),
            overhead: overhead.row("above the transport", unit),
            yardstick: unit.yardstick,
            rounds: rounds,
            countsAllocations: countsAllocations
        )
    }

    private struct Unit {
        let total: Int
        let yardstick: Double
    }

    private struct Figures {
        var runs = 0.0
        var nanoseconds = 0
        var waitNanoseconds = 0
        var allocations = 0

        init() {}

        init(_ series: Series, _ rounds: Int) {
            runs = rounds > 0 ? Double(series.runCount) / Double(rounds) : 0
            nanoseconds = series.nanoseconds.middle ?? 0
            waitNanoseconds = series.waitNanoseconds.middle ?? 0
            allocations = series.allocations.min() ?? 0
        }

        mutating func add(_ other: Figures) {
            runs = max(runs, other.runs)
            nanoseconds += other.nanoseconds
            waitNanoseconds += other.waitNanoseconds
            allocations += other.allocations
        }

        /// Subtracts a part; the rest does not run a number of times.
        mutating func subtract(_ other: Figures) {
            runs = 0
            nanoseconds -= other.nanoseconds
            allocations -= other.allocations
        }

        func row(_ name: String, _ unit: Unit, _ stages: [PipelineAnalysis.Row] = []) -> PipelineAnalysis.Row {
            PipelineAnalysis.Row(
                name: name,
                runs: runs,
                allocations: allocations,
                share: unit.total > 0 ? Double(nanoseconds) / Double(unit.total) : 0,
                yardsticks: unit.yardstick > 0 ? Double(nanoseconds) / unit.yardstick : 0,
                stages: stages,
                nanoseconds: nanoseconds,
                waitNanoseconds: waitNanoseconds
            )
        }
    }
}

extension Array where Element: Comparable {
    /// The median, the upper one of two.
    var middle: Element? { isEmpty ? nil : sorted()[count / 2] }
}

extension Duration {
    var wholeNanoseconds: Int { Int((self / .nanoseconds(1)).rounded()) }
}
