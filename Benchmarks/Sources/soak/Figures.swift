/// The measurements of a run.
struct Figures: Sendable {
    /// The memory after a number of calls, while none is in flight.
    struct Sample: Sendable {
        let callCount: Int
        let byteCount: Int
    }

    var options: Options
    var callCount = 0
    var tally = Tally()
    var duration = Duration.zero
    var exchangeCount = 0
    /// The exchanges that had not ended when all calls had.
    var liveExchangeCount = 0
    var samples: [Sample] = []
    var descriptors: (before: Int, after: Int)?
    var threads: (before: Int, after: Int)?
    /// The names of the objects that still existed.
    var remains: [String] = []
    /// The number of connections that were open at the server.
    var openConnectionCount: Int?
    /// The time until nothing was left, or until the wait for this ended.
    var settling = Duration.zero
    var serverEndedWell = true

    init(_ options: Options) { self.options = options }

    /// Whether there are enough calls to measure memory.
    var isMemoryMeasured: Bool { options.minutes != nil || options.callCount >= Self.leastCountForMemory }

    /// The rise of memory after the first calls, from the first sample to the last.
    var plainMemoryGrowth: Int? {
        guard let first = settledSizes.first, let last = settledSizes.last, settledSizes.count > 1 else { return nil }
        return last - first
    }

    /// The rise of memory without fluctuations: twice the difference between the minima of the later and earlier half.
    ///
    /// The difference is doubled because the halves are half a run apart.
    var memoryGrowth: Int? {
        let sizes = settledSizes
        guard let earlier = sizes.prefix(sizes.count / 2).min(), let later = sizes.suffix(sizes.count / 2).min() else {
            return nil
        }
        return 2 * (later - earlier)
    }

    private var settledSizes: [Int] { samples.filter { $0.callCount >= Self.warmUpCount }.map(\.byteCount) }

    /// The number of calls before memory counts.
    static let warmUpCount = 5_000
    /// The bytes by which memory may rise.
    static let allowedMemoryGrowth = 2 << 20
    /// With fewer calls, memory is not judged.
    static let leastCountForMemory = 15_000
    /// With fewer cancelled calls, their latency is not judged.
    static let leastCountForLatency = 100
    /// Ten times what a quiet machine needs.
    ///
    /// A cancellation that does not work takes seconds.
    static let allowedCancelLatency = Duration.milliseconds(500)
}
