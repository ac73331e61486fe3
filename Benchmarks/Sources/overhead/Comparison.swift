import Foundation
import Pipeline

/// Work compared with a yardstick, which does the minimum for the same task.
struct Comparison: Sendable {
    let name: String
    /// The bytes that one run handles; 0 if bytes are not meaningful.
    var byteCount = 0
    let run: @Sendable () async throws -> Void
    let yardstick: @Sendable () async throws -> Void

    struct Result: Codable {
        let name: String
        /// The yardstick's time over the work's, the median of all rounds: 1 if both are as fast, less if the work is
        /// slower.
        let ratio: Double
        /// 0 if bytes are not meaningful.
        let megabytesPerSecond: Double
    }

    /// Measures work and yardstick in turn, and swaps their order every other round.
    @concurrent
    static func measure(_ comparisons: [Comparison], rounds: Int) async throws -> [Result] {
        var times = Array(repeating: [(work: Double, yardstick: Double)](), count: comparisons.count)
        for round in 0...rounds {
            for (index, comparison) in comparisons.enumerated() {
                let isWorkFirst = round % 2 == 0
                var work = isWorkFirst ? try await time(comparison.run) : 0
                let yardstick = try await time(comparison.yardstick)
                if !isWorkFirst { work = try await time(comparison.run) }
                // The first round is a warm-up.
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
