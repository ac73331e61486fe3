/// A concurrency limit that follows the capacity of a server, by the latency and the failures of its responses.
///
/// A server that works on n requests at a time responds to more of them later, not faster: beyond this knee, latency
/// grows in proportion to the number of requests. In each window of samples, the limit moves towards the number of
/// requests in flight at which the latency would be the baseline, plus a few to notice when there is room for more. The
/// baseline is the mean latency below the knee. A short probe with fewer requests measures it from time to time.
///
/// It compares means, because the lowest latency says little about a server whose service times vary. A limit that
/// falls without lowering the latency is below the knee, so its baseline was too low and is measured anew.
struct AdaptiveLimit: Sendable {
    /// What the next window of samples is for.
    private enum Phase {
        /// To find out whether fewer requests have a lower latency; with the latency before, if it is known.
        case probing(previous: Double?)
        /// To find the knee, in large steps.
        case climbing
        /// To follow the knee; with the number of windows until the next probe.
        case following(remaining: Int)
    }

    /// The samples of a window.
    private struct Window {
        var count = 0
        var dropCount = 0
        var latencySum = 0.0
        var inFlightSum = 0
    }

    private static let headroom = 0.03
    /// By how much a latency may exceed the baseline by chance.
    private static let tolerance = 1.05
    private static let climbFactor = 1.5
    private static let probeFactor = 0.7
    private static let windowsBetweenProbes = 40
    private static let minimumSampleCount = 100
    private static let climbSampleCount = 40

    private let range: ClosedRange<Double>
    /// The limit outside of probes.
    private var limit: Double
    private var level: Double
    private var baseline: Double?
    private var phase = Phase.probing(previous: nil)
    /// Whether the limit has reached the knee once.
    private var hasKnee = false
    /// The number of windows in a row in which there was room for more.
    private var growthCount = 0
    /// The limit at the last probe.
    private var probedLimit = 0.0
    /// The limit and the latency at which the limit began to fall.
    private var fallStart: (limit: Double, latency: Double)?
    private var window = Window()
    /// The number of samples to ignore, because they began before the last change.
    private var skipCount: Int

    init(initial: Int, range: ClosedRange<Int>) {
        self.range = Double(range.lowerBound)...Double(range.upperBound)
        limit = Double(initial)
        level = limit
        skipCount = initial
    }

    /// The number of requests that may be in flight.
    var permits: Int { Int(level) }

    /// Adds the sample of a request that has ended.
    ///
    /// - Parameters:
    ///   - latency: how long the request took.
    ///   - inFlight: the number of requests in flight at its end, including this one.
    ///   - wasDropped: whether the server refused the request or did not respond in time.
    mutating func add(_ latency: Duration, inFlight: Int, wasDropped: Bool) {
        guard skipCount == 0 else {
            skipCount -= 1
            return
        }
        window.count += 1
        window.inFlightSum += inFlight
        if wasDropped { window.dropCount += 1 } else { window.latencySum += latency / .seconds(1) }
        guard window.count >= sampleCount else { return }
        close(window)
        window = Window()
    }

    /// The number of samples in a window, which is small until the first knee was found.
    private var sampleCount: Int {
        if hasKnee {
            max(Self.minimumSampleCount, 2 * permits)
        } else {
            max(Self.climbSampleCount, min(5 * permits, Self.minimumSampleCount), permits)
        }
    }

    private mutating func close(_ window: Window) {
        let inFlight = Double(window.inFlightSum) / Double(window.count)
        let skipCount = Int(inFlight.rounded(.up))
        let isSaturated = inFlight >= Self.probeFactor * Double(permits)
        // The limit may fall by half at most for each window.
        let kept = max(0.5, 1 - 2 * Double(window.dropCount) / Double(window.count))
        let answered = window.count - window.dropCount
        guard answered > 0 else { return follow(kept, isSaturated: true) }
        let latency = window.latencySum / Double(answered)
        switch phase {
        case .probing(let previous):
            self.skipCount = skipCount
            let isLower = previous.map { latency < 0.85 * $0 } ?? true
            if isSaturated, isLower, permits > Int(range.lowerBound) {
                phase = .probing(previous: latency)
                level = max(range.lowerBound, (level * Self.probeFactor).rounded(.down))
                return
            }
            let isFirst = baseline == nil
            setBaseline(latency)
            phase = isFirst ? .climbing : .following(remaining: Self.windowsBetweenProbes)
            if isFirst { limit = level } else { level = limit }
        case .climbing:
            self.skipCount = skipCount
            let gradient = gradient(of: latency)
            guard isSaturated else { return setBaseline(latency) }
            guard gradient > 0.75, kept > 0.75 else {
                hasKnee = true
                // The first baseline is coarse.
                phase = .following(remaining: 3)
                return follow(min(gradient, kept), isSaturated: true)
            }
            move(to: limit * Self.climbFactor)
        case .following(let remaining):
            if isFallingInVain(latency) { baseline = latency } else if !isSaturated { setBaseline(latency) }
            follow(min(gradient(of: latency), kept), isSaturated: isSaturated)
            // A limit that has fallen a lot may have fallen for a baseline that was too low by chance.
            guard remaining > 0, limit > 0.6 * probedLimit else {
                probedLimit = limit
                self.skipCount = skipCount
                phase = .probing(previous: latency)
                level = max(range.lowerBound, (limit * Self.probeFactor).rounded(.down))
                return
            }
            phase = .following(remaining: remaining - 1)
        }
    }

    /// Returns by which factor the requests in flight exceed the knee, as a number in `0.5...1`.
    private func gradient(of latency: Double) -> Double {
        guard let baseline, latency > 0 else { return 1 }
        return min(1, max(0.5, Self.tolerance * baseline / latency))
    }

    /// Returns whether a fall of the limit by a fifth has not lowered the latency, so that it is below the knee.
    private mutating func isFallingInVain(_ latency: Double) -> Bool {
        guard let start = fallStart, limit < start.limit, latency < start.latency else {
            // A latency that rises while the limit falls is the server's doing.
            fallStart = (limit, latency)
            return false
        }
        guard limit <= 0.8 * start.limit else { return false }
        fallStart = (limit, latency)
        return latency > 0.9 * start.latency
    }

    /// Moves the limit towards the knee; upwards only if requests use it up, and faster the longer there is room.
    private mutating func follow(_ gradient: Double, isSaturated: Bool) {
        growthCount = gradient > 0.97 ? growthCount + 1 : 0
        let headroom = min(0.5, Self.headroom * Double(1 << min(max(0, growthCount - 2), 4)))
        let target = limit * gradient + max(0.5, limit * headroom)
        guard isSaturated || target < limit else { return }
        move(to: (limit + target) / 2)
    }

    private mutating func move(to new: Double) {
        limit = min(max(new, range.lowerBound), range.upperBound)
        level = limit
    }

    /// Sets the baseline to a new mean, and averages the two if they differ only by chance.
    private mutating func setBaseline(_ latency: Double) {
        guard let baseline, (0.6...1.6).contains(latency / baseline) else {
            baseline = latency
            return
        }
        self.baseline = (baseline + latency) / 2
    }
}
