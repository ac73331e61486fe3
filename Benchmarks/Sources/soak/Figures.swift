/// What was measured in a run.
struct Figures: Sendable {
    /// Memory after so many calls, while none is in flight.
    struct Sample: Sendable {
        let callCount: Int
        let byteCount: Int
    }

    var options: Options
    var callCount = 0
    var tally = Tally()
    var duration = Duration.zero
    var exchangeCount = 0
    /// Exchanges that had begun and not ended when all calls had.
    var liveExchangeCount = 0
    var samples: [Sample] = []
    var descriptors: (before: Int, after: Int)?
    var threads: (before: Int, after: Int)?
    /// What was still held.
    var remains: [String] = []
    /// Connections that were open at the server.
    var openConnectionCount: Int?
    /// How long it took until nothing was left, or was waited for that.
    var settling = Duration.zero
    var serverEndedWell = true

    init(_ options: Options) { self.options = options }

    /// Whether there are calls enough for memory to be looked at.
    var isMemoryMeasured: Bool { options.minutes != nil || options.callCount >= Self.leastCountForMemory }

    /// How far memory rose after the first calls, from the first sample to the last.
    var plainMemoryGrowth: Int? {
        guard let first = settledSizes.first, let last = settledSizes.last, settledSizes.count > 1 else { return nil }
        return last - first
    }

    /// The same without what goes up and down: the least of the later half over the least of the earlier half, twice, because these
    /// lie half of the run apart.
    var memoryGrowth: Int? {
        let sizes = settledSizes
        guard let earlier = sizes.prefix(sizes.count / 2).min(), let later = sizes.suffix(sizes.count / 2).min() else {
            return nil
        }
        return 2 * (later - earlier)
    }

    private var settledSizes: [Int] { samples.filter { $0.callCount >= Self.warmUpCount }.map(\.byteCount) }

    /// The calls after which memory counts.
    static let warmUpCount = 5_000
    /// What memory may rise by.
    static let allowedMemoryGrowth = 2 << 20
    /// Fewer calls say nothing about memory.
    static let leastCountForMemory = 15_000
    /// Fewer cancelled calls say nothing about the slowest of them.
    static let leastCountForLatency = 100
    /// Ten times what a quiet machine needs: a cancellation that does not work takes seconds.
    static let allowedCancelLatency = Duration.milliseconds(500)
}
