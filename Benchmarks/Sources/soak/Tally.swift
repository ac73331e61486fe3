/// The outcomes of the calls of a run.
struct Tally: Sendable {
    struct Mismatch: Sendable {
        let plan: Plan
        let expected: Outcome
        let found: Outcome
    }

    private static let shownMismatchCount = 10

    private(set) var counts: [String: Int] = [:]
    private(set) var mismatchCount = 0
    private(set) var mismatches: [Mismatch] = []
    /// The times from the cancellation of a call in flight to its end.
    private(set) var cancelLatencies = Latencies()

    /// The number of calls that have ended.
    var outcomeCount: Int { counts.values.reduce(0, +) }

    mutating func add(_ found: Outcome, to plan: Plan, expected: Outcome, cancelLatency: Duration?) {
        counts[found.label, default: 0] += 1
        if let cancelLatency { cancelLatencies.add(cancelLatency) }
        // Only a call that was cancelled may throw CancellationError.
        if found.matches(expected) || (plan.cancelDelay != nil && found.kind == .cancelled) { return }
        add(Mismatch(plan: plan, expected: expected, found: found))
    }

    mutating func add(_ other: Tally) {
        counts.merge(other.counts) { $0 + $1 }
        cancelLatencies.add(other.cancelLatencies)
        mismatchCount += other.mismatchCount
        mismatches += other.mismatches.prefix(max(0, Self.shownMismatchCount - mismatches.count))
    }

    /// Only the mismatches, for calls that are not counted.
    var mismatchesOnly: Tally {
        var tally = Tally()
        tally.mismatchCount = mismatchCount
        tally.mismatches = mismatches
        return tally
    }

    private mutating func add(_ mismatch: Mismatch) {
        mismatchCount += 1
        if mismatches.count < Self.shownMismatchCount { mismatches.append(mismatch) }
    }
}
