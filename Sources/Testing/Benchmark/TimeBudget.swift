import Foundation
public import PipelineCore

/// A limit on a time, which holds for every machine only as a ratio, and in no CI, where other work disturbs it.
enum TimeBudget {
    /// Returns whether a figure is within its limit, or whether times are not judged.
    static func isMet(
        _ figure: Double,
        _ limit: Double,
        _ tolerance: Double,
        inCI: Bool,
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Bool {
        precondition(tolerance >= 0, "the tolerance of a budget is \(tolerance), not 0 or more")
        let isCI = !["", "0", "false"].contains(environment["CI"]?.lowercased() ?? "")
        return (isCI && !inCI) || figure <= limit * (1 + tolerance)
    }
}

extension PipelineBenchmark.Report.Measurement {
    /// Returns whether the case took at most a multiple of the yardstick's time.
    ///
    /// - Parameters:
    ///   - limit: the ratio that is allowed.
    ///   - tolerance: the part of the limit by which it may be exceeded, 0 or more; defaults to 0.25.
    ///   - inCI: whether to judge also if the environment variable `CI` is set; defaults to `false`, because other
    ///     programs disturb the times there.
    /// - Returns: whether the ratio is within the limit; `true` if it is not judged.
    public func isWithin(ratio limit: Double, tolerance: Double = 0.25, inCI: Bool = false) -> Bool {
        TimeBudget.isMet(ratio, limit, tolerance, inCI: inCI)
    }
}

extension PipelineAnalysis.Row {
    /// Returns whether the row took at most a multiple of the yardstick's time.
    ///
    /// - Parameters:
    ///   - limit: the number of yardsticks that is allowed.
    ///   - tolerance: the part of the limit by which it may be exceeded, 0 or more; defaults to 0.25.
    ///   - inCI: whether to judge also if the environment variable `CI` is set; defaults to `false`, because other
    ///     programs disturb the times there.
    /// - Returns: whether the time is within the limit; `true` if it is not judged.
    public func isWithin(yardsticks limit: Double, tolerance: Double = 0.25, inCI: Bool = false) -> Bool {
        TimeBudget.isMet(yardsticks, limit, tolerance, inCI: inCI)
    }
}
