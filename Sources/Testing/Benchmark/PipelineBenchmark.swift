public import PipelineCore

/// A benchmark of your own stacks and plugins.
///
/// ```swift
/// var benchmark = PipelineBenchmark("Signing", allocations: .process)
/// benchmark.add("unsigned") { try await plain.request(.item(1)) }
/// benchmark.add("signed") { try await signing.request(.item(1)) }
/// let report = try await benchmark.run()
/// print(report)
/// ```
///
/// The first case is the yardstick. Each round measures every case once, in turn, so that a slower machine affects all
/// of them; every other round reverses their order. A case is compared with the yardstick of the same round. Compare
/// ratios, never times of two machines or days, and use a release build.
///
/// **Effects**: the cases run one at a time, with everything that they do. Before the first round, each does a
/// tenth of a round's runs as a warm-up.
public struct PipelineBenchmark: Sendable {
    /// The name of the benchmark, the title of its table and chart.
    public let name: String
    /// The cases; the first is the yardstick.
    public var cases: [Case]
    private let allocations: PipelineAnalysis.AllocationCounter?

    /// Makes a benchmark.
    ///
    /// - Parameters:
    ///   - name: the name of the benchmark.
    ///   - cases: the cases, of which the first is the yardstick; more can be added later.
    ///   - allocations: the counter of allocations; `nil`, the default, if they are not counted.
    public init(_ name: String, cases: [Case] = [], allocations: PipelineAnalysis.AllocationCounter? = nil) {
        self.name = name
        self.cases = cases
        self.allocations = allocations
    }

    /// Makes a benchmark of a stack: the target without plugins as the yardstick, with each plugin alone, and with all.
    ///
    /// The cases have the names `no plugins`, those of the plugins, and `all plugins`. If a name is taken, the position
    /// follows it.
    ///
    /// - Parameters:
    ///   - plugins: the plugins and stacks, outermost first.
    ///   - target: the target to send.
    ///   - transport: the transport of all cases, such as `StubTransport()`.
    ///   - configuration: the settings of all calls.
    ///   - allocations: the counter of allocations; `nil`, the default, if they are not counted.
    public init<Target: TargetType>(
        stack plugins: [any PluginType],
        running target: Target,
        over transport: any Transport,
        configuration: ProviderConfiguration = ProviderConfiguration(),
        allocations: PipelineAnalysis.AllocationCounter? = nil
    ) {
        self.init("\(Target.self)", allocations: allocations)
        func add(_ name: String, _ plugins: [any PluginType]) {
            let provider = Provider<Target>(transport: transport, plugins: plugins, configuration: configuration)
            self.add(name) { try await provider.request(target) }
        }
        add("no plugins", [])
        for (index, plugin) in PluginStack(plugins).plugins.enumerated() {
            var name = plugin.name
            while cases.contains(where: { $0.name == name }) { name += " \(index + 1)" }
            add(name, [plugin])
        }
        add("all plugins", plugins)
    }

    /// Adds a case.
    ///
    /// - Parameters:
    ///   - name: the name of the case, different from those of the others.
    ///   - work: the work, whose value is kept from the optimizer.
    public mutating func add<Value>(_ name: String, _ work: @escaping @Sendable () async throws -> Value) {
        cases.append(Case(name, work))
    }

    /// Runs all cases and returns what they cost.
    ///
    /// - Parameters:
    ///   - rounds: the number of rounds, at least 1; defaults to 21.
    ///   - iterations: how often each case runs in a round, at least 1; defaults to 1,000. Choose it so that a case
    ///     takes some milliseconds.
    /// - Returns: the medians of all rounds.
    /// - Throws: the error of a case.
    @concurrent
    public func run(rounds: Int = 21, iterations: Int = 1_000) async throws -> Report {
        precondition(rounds > 0 && iterations > 0, "a benchmark has \(rounds) rounds of \(iterations) iterations")
        precondition(!cases.isEmpty, "the benchmark \(name) has no case")
        for item in cases { _ = try await item.measure(iterations / 10 + 1) }
        var slices = Array(repeating: [Slice](), count: cases.count)
        for round in 0..<rounds {
            for index in round % 2 == 0 ? Array(cases.indices) : cases.indices.reversed() {
                slices[index].append(try await cases[index].measure(iterations, allocations: allocations))
            }
        }
        return try Report(name, zip(cases.map(\.name), slices).map { ($0, $1) }, iterations: iterations)
    }
}

extension PipelineBenchmark {
    /// Work that a benchmark runs many times.
    public struct Case: Sendable {
        /// The name of the case.
        public let name: String
        private let run: @Sendable (Int) async throws -> Void

        /// Makes a case.
        ///
        /// - Parameters:
        ///   - name: the name of the case.
        ///   - work: the work, whose value is kept from the optimizer.
        public init<Value>(_ name: String, _ work: @escaping @Sendable () async throws -> Value) {
            self.init(name) { count in
                for _ in 0..<count { Self.keep(try await work()) }
            }
        }

        /// Makes a case that repeats its work, for work that is as short as calling a closure.
        ///
        /// - Parameters:
        ///   - name: the name of the case.
        ///   - run: runs the work as often as its argument says.
        public init(_ name: String, repeating run: @escaping @Sendable (_ count: Int) async throws -> Void) {
            self.name = name
            self.run = run
        }

        /// Keeps the optimizer from removing the work that makes a value.
        @inline(never)
        private static func keep<Value>(_ value: Value) {
            withExtendedLifetime(value) {}
        }

        /// Measures the work.
        ///
        /// - Parameters:
        ///   - count: how often to run it.
        ///   - allocations: the counter of allocations; `nil` if they are not counted.
        /// - Returns: what all runs took together.
        /// - Throws: the error of the work.
        @concurrent
        public func measure(_ count: Int, allocations: PipelineAnalysis.AllocationCounter? = nil) async throws -> Slice
        {
            let before = allocations?.read()
            let start = ContinuousClock.now
            try await run(count)
            let nanoseconds = start.duration(to: .now) / .nanoseconds(1)
            let after = allocations?.read()
            var allocationCount: Int?
            if let before, let after, before.thread == after.thread { allocationCount = after.count - before.count }
            return Slice(count: count, nanoseconds: nanoseconds, allocationCount: allocationCount)
        }
    }

    /// What the runs of a case took together.
    public struct Slice: Sendable, Hashable {
        /// How often the work ran.
        public let count: Int
        /// The nanoseconds of all runs.
        public let nanoseconds: Double
        /// The allocations of all runs; `nil` if they were not counted, or if the work ended on another thread than the
        /// one that is counted.
        public internal(set) var allocationCount: Int?
    }
}
