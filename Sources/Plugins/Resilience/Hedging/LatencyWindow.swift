/// The latencies of the latest responses, and percentiles of them.
struct LatencyWindow: Sendable {
    static let capacity = 1_000
    /// How many latencies a percentile needs.
    static let minimumCount = 20

    /// In microseconds, to keep many partitions small.
    private var latencies: [UInt32] = []
    private var next = 0
    /// How many latencies were added since the percentile was computed.
    private var newCount = 0
    private var computed: (share: Double, latency: Duration)?

    /// Adds a latency, which replaces the oldest one if the window is full.
    mutating func add(_ latency: Duration) {
        let microseconds = UInt32(min(max(latency / .microseconds(1), 0), Double(UInt32.max)).rounded(.up))
        if latencies.count < Self.capacity { latencies.append(microseconds) } else { latencies[next] = microseconds }
        next = (next + 1) % Self.capacity
        newCount += 1
    }

    /// Returns the latency that a share of all future ones is expected not to exceed; `nil` while there are too few.
    ///
    /// It is computed anew after every twentieth of the latencies has been replaced, because it sorts them.
    mutating func percentile(_ share: Double) -> Duration? {
        guard latencies.count >= Self.minimumCount else { return nil }
        if let computed, computed.share == share, newCount < max(1, latencies.count / 20) { return computed.latency }
        // Of n values, the k-th smallest is exceeded by the next one with probability 1 - k / (n + 1).
        let rank = Int((share * Double(latencies.count + 1)).rounded(.up))
        let latency = Duration.microseconds(Int64(latencies.sorted()[min(rank, latencies.count) - 1]))
        computed = (share, latency)
        newCount = 0
        return latency
    }
}
