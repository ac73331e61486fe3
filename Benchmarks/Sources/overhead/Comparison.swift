import PipelineTesting

/// Work compared with a yardstick, which does the minimum for the same task.
struct Comparison: Sendable {
    let name: String
    /// The bytes that one run handles; 0 if bytes are not meaningful.
    var byteCount = 0
    let run: @Sendable () async throws -> Void
    let yardstick: @Sendable () async throws -> Void

    struct Result: Codable {
        let name: String
        /// The yardstick's median over the work's: 1 if both are as fast, less if the work is slower.
        let ratio: Double
        /// 0 if bytes are not meaningful.
        let megabytesPerSecond: Double
    }

    /// Measures all in the same rounds, each next to its yardstick.
    static func measure(_ comparisons: [Comparison], rounds: Int) async throws -> [Result] {
        let cases = comparisons.flatMap { [Case($0.name, $0.run), Case("\($0.name): yardstick", $0.yardstick)] }
        let report = try await PipelineBenchmark("comparisons", cases: cases).run(rounds: rounds, iterations: 1)
        return comparisons.map { comparison in
            let nanoseconds = report[comparison.name].nanoseconds
            return Result(
                name: comparison.name,
                ratio: report["\(comparison.name): yardstick"].nanoseconds / nanoseconds,
                megabytesPerSecond: Double(comparison.byteCount) * 1e3 / nanoseconds
            )
        }
    }
}
