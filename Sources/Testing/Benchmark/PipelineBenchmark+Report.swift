public import Foundation
import PipelineCore

extension PipelineBenchmark {
    /// What the cases of a benchmark cost.
    ///
    /// It prints as a table. ``json()`` and ``svg`` are for files.
    public struct Report: Sendable, Hashable, Codable, CustomStringConvertible {
        /// The cost of one run of a case.
        public struct Measurement: Sendable, Hashable, Codable {
            /// The name of the case.
            public let name: String
            /// The nanoseconds of one run; the median of all rounds.
            public let nanoseconds: Double
            /// The allocations of one run; the least of all rounds, and 0 unless ``Report/countsAllocations`` is
            /// `true`.
            public let allocations: Double
            /// The time as a multiple of the yardstick's in the same round; the median of all rounds.
            public let ratio: Double
            /// The ratio that a quarter of the rounds were below.
            public let lowerQuartile: Double
            /// The ratio that a quarter of the rounds were above.
            public let upperQuartile: Double
        }

        /// The name of the benchmark.
        public let name: String
        /// The number of rounds.
        public let rounds: Int
        /// How often each case ran in a round.
        public let iterations: Int
        /// Whether allocations were counted.
        public let countsAllocations: Bool
        /// The costs of the cases; the first is the yardstick.
        public let cases: [Measurement]

        /// The cost of a case.
        ///
        /// If there is no such case, the program stops, because a budget for it would be meaningless.
        public subscript(name: String) -> Measurement {
            guard let found = cases.first(where: { $0.name == name }) else {
                preconditionFailure("the benchmark has no case \(name); its cases are \(cases.map(\.name))")
            }
            return found
        }

        /// The report as JSON, with sorted keys.
        public func json() throws -> Data {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            return try encoder.encode(self)
        }

        /// The costs as a table.
        public var description: String {
            let head = ["\(name), \(rounds) × \(iterations)", "ns"] + (countsAllocations ? ["allocations"] : [])
            var rows = [head + ["ratio", "middle half"]]
            for item in cases {
                let allocations = countsAllocations ? [String(format: "%.1f", item.allocations)] : []
                let middle = String(format: "%.2f to %.2f", item.lowerQuartile, item.upperQuartile)
                let time = String(format: "%.0f", item.nanoseconds)
                rows.append([item.name, time] + allocations + [String(format: "%.2f", item.ratio), middle])
            }
            return TextTable.lines(rows).joined(separator: "\n")
        }
    }
}

extension PipelineBenchmark.Report {
    /// Makes a report from the slices of all rounds; the first case is the yardstick.
    init(
        _ name: String,
        _ cases: [(name: String, slices: [PipelineBenchmark.Slice])],
        iterations: Int
    ) throws {
        let yardstick = cases.first?.slices.map(\.timeOfOne) ?? []
        let counts = cases.flatMap(\.slices).contains { $0.allocationCount != nil }
        self.name = name
        self.iterations = iterations
        rounds = yardstick.count
        countsAllocations = counts
        self.cases = try cases.map { item in
            let times = item.slices.map(\.timeOfOne)
            let ratios = zip(times, yardstick).map { $1 > 0 ? $0 / $1 : 0 }.sorted()
            let allocations = item.slices.compactMap(\.allocationsOfOne).min()
            guard allocations != nil || !counts else {
                throw PipelineError(
                    .plugin,
                    "the case \(item.name) ended on another thread in every round, so the allocations of one thread "
                        + "are not those of the case; count those of the process"
                )
            }
            return Measurement(
                name: item.name,
                nanoseconds: Self.value(times.sorted(), at: 0.5),
                allocations: ((allocations ?? 0) * 10).rounded() / 10,
                ratio: Self.value(ratios, at: 0.5),
                lowerQuartile: Self.value(ratios, at: 0.25),
                upperQuartile: Self.value(ratios, at: 0.75)
            )
        }
    }

    /// Returns the value at a part of a sorted list.
    private static func value(_ values: [Double], at part: Double) -> Double {
        values.isEmpty ? 0 : values[Int((Double(values.count - 1) * part).rounded())]
    }
}

extension PipelineBenchmark.Slice {
    fileprivate var timeOfOne: Double { nanoseconds / Double(count) }
    fileprivate var allocationsOfOne: Double? { allocationCount.map { Double($0) / Double(count) } }
}
