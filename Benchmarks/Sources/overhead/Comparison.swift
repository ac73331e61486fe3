import Foundation
import Pipeline

/// Work beside a yardstick that does the least that would do.
struct Comparison: Sendable {
    let name: String
    /// What one run handles, 0 when that says nothing.
    var byteCount = 0
    let run: @Sendable () async throws -> Void
    let yardstick: @Sendable () async throws -> Void

    struct Result: Codable {
        let name: String
        /// The yardstick's time over the work's: 1 for as fast, less for slower; the median of each round's own ratio.
        let ratio: Double
        /// 0 when bytes say nothing.
        let megabytesPerSecond: Double
    }

    /// Measures both in turn, every other round the other way about.
    @concurrent
    static func measure(_ comparisons: [Comparison], rounds: Int) async throws -> [Result] {
        var times = Array(repeating: [(work: Double, yardstick: Double)](), count: comparisons.count)
        for round in 0...rounds {
            for (index, comparison) in comparisons.enumerated() {
                let isWorkFirst = round % 2 == 0
                var work = isWorkFirst ? try await time(comparison.run) : 0
                let yardstick = try await time(comparison.yardstick)
                if !isWorkFirst { work = try await time(comparison.run) }
                // The first round warms up.
                if round > 0 { times[index].append((work, yardstick)) }
            }
        }
        return comparisons.indices.map { index in
            let seconds = median(times[index].map(\.work))
            return Result(
                name: comparisons[index].name,
                ratio: median(times[index].map { $0.yardstick / $0.work }),
                megabytesPerSecond: Double(comparisons[index].byteCount) / 1e6 / seconds
            )
        }
    }

    private static func time(_ work: () async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        try await work()
        return start.duration(to: .now) / .seconds(1)
    }
}
