/// What each plugin of a stack costs, measured by `Provider.explain(running:)`.
///
/// ```swift
/// let analysis = try await provider.explain(running: .zen)
/// print(analysis)
/// ```
///
/// It prints as a table. All figures are for one call. The rows of ``plugins``, ``exchanges`` and ``core`` add up to
/// ``total``.
///
/// **Secrets**: the name of the call has no query and no user information.
public struct PipelineAnalysis: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The cost of a plugin, of a stage, or of another part of a call.
    public struct Row: Sendable, Hashable, Codable {
        /// The name of the plugin, the stage or the part.
        public let name: String
        /// How often it ran per call, on average.
        ///
        /// For a plugin, this is that of its stage that ran most often.
        public let runs: Double
        /// How many blocks it allocated per call, without what other plugins, the core and the transport allocated
        /// inside it; the least of all rounds, and 0 unless ``PipelineAnalysis/countsAllocations`` is `true`.
        public let allocations: Int
        /// Its part of the time of the whole call.
        public let share: Double
        /// Its time as a multiple of the ``PipelineAnalysis/yardstick``.
        public let yardsticks: Double
        /// The stages of a plugin, in the order of a request's path; empty for every other row.
        public let stages: [Row]
        let nanoseconds: Int
        let waitNanoseconds: Int

        /// How long it took per call, without what other plugins, the core and the transport did inside it; the median
        /// of all rounds.
        public var duration: Duration { .nanoseconds(nanoseconds) }
        /// The part of ``duration`` for which a plugin waited, such as before a retry; the median of all rounds.
        public var wait: Duration { .nanoseconds(waitNanoseconds) }

        /// The row of a stage.
        ///
        /// If the plugin has no such stage, the program stops, because a budget for it would be meaningless.
        public subscript(stage: Stage.Kind) -> Row {
            guard let row = stages.first(where: { $0.name == stage.rawValue }) else {
                preconditionFailure("\(name) has no stage \(stage); its stages are \(stages.map(\.name))")
            }
            return row
        }
    }

    /// The method and the URL of the call that was measured, without its query.
    public let name: String
    /// The name of the transport, from ``Transport/name``.
    public let transportName: String
    /// The plugins, outermost first.
    public let plugins: [Row]
    /// The exchanges within the call, with all bodies; runs are the exchanges per call.
    public let exchanges: Row
    /// What the pipeline does besides running plugins and the transport.
    public let core: Row
    /// The whole call, measured without recording its stages.
    public let total: Row
    /// One exchange of the transport, called directly with the finished request; zero if no request was sent.
    public let transport: Row
    /// What the stack adds to one exchange: ``total`` less ``transport``.
    public let overhead: Row
    /// The time to build one `HTTPRequest` with two header fields, in nanoseconds; the median of all rounds.
    public let yardstick: Double
    /// The number of rounds.
    public let rounds: Int
    /// Whether allocations were counted.
    public let countsAllocations: Bool

    /// The row of a plugin.
    ///
    /// If several plugins have the name, the row is the sum of theirs. If none has it, the program stops, because a
    /// budget for it would be meaningless.
    ///
    /// - Parameter name: the name of the plugin, from ``PluginType/name``.
    public subscript(name: String) -> Row {
        let rows = plugins.filter { $0.name == name }
        guard let first = rows.first else {
            preconditionFailure("the stack has no plugin \(name); its plugins are \(plugins.map(\.name))")
        }
        return rows.dropFirst().reduce(first, +)
    }
}

extension PipelineAnalysis.Row {
    /// Returns the sum of two rows with the name and the number of stages of the first.
    static func + (one: Self, other: Self) -> Self {
        Self(
            name: one.name,
            runs: one.runs + other.runs,
            allocations: one.allocations + other.allocations,
            share: one.share + other.share,
            yardsticks: one.yardsticks + other.yardsticks,
            stages: one.stages.map { stage in
                other.stages.filter { $0.name == stage.name }.reduce(stage, +)
            },
            nanoseconds: one.nanoseconds + other.nanoseconds,
            waitNanoseconds: one.waitNanoseconds + other.waitNanoseconds
        )
    }
}
