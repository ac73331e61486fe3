/// The frequency of each latency in steps of 10 microseconds, so that many calls take no more memory than few.
struct Latencies: Sendable {
    private static let step = Duration.microseconds(10)

    private var counts: [Int: Int] = [:]
    private(set) var longest = Duration.zero

    var count: Int { counts.values.reduce(0, +) }

    mutating func add(_ latency: Duration) {
        counts[Int(latency / Self.step), default: 0] += 1
        longest = max(longest, latency)
    }

    mutating func add(_ other: Latencies) {
        counts.merge(other.counts) { $0 + $1 }
        longest = max(longest, other.longest)
    }

    /// Returns the latency that the given share of calls does not exceed, rounded up to a step.
    func latency(atShare share: Double) -> Duration? {
        var rest = Int((Double(count) * share).rounded(.up))
        for (steps, count) in counts.sorted(by: { $0.key < $1.key }) {
            rest -= count
            if rest <= 0 { return Self.step * (steps + 1) }
        }
        return nil
    }
}
