/// A concurrency limit that follows the capacity of a server, by the latency and the failures of its responses.
///
/// A server that works on n requests at a time responds to more of them later, not faster: beyond this knee, latency
/// grows in proportion to the number of requests. In each window of samples, the limit moves towards the number of
/// requests in flight at which the latency would be the baseline, plus a few to notice when there is room for more. The
/// baseline is the mean latency below the knee. A short probe with fewer requests measures it from time to time.
///
/// The limit falls only on evidence: if the server drops requests, or if its latency rises while requests wait for a
/// permit. A high latency alone may be that of other requests. It compares means, because the lowest latency says
/// little about a server whose service times vary. A limit that falls without lowering the latency is below the knee,
/// so its baseline was too low and is measured anew.
///
/// Times are measured from any fixed moment.
struct AdaptiveLimit: Sendable {
    enum Outcome: Sendable {
        case answered
        /// The server refused the request.
        case refused
        /// The request had no response when its time was up.
        case late
    }

    /// A request that has ended.
    struct Sample: Sendable {
        let start: Duration
        let end: Duration
        /// The number of requests in flight at its end, including this one.
        let inFlight: Int
        /// Whether other requests waited for a permit at its end.
        let hasQueue: Bool
        var outcome = Outcome.answered
    }

    /// What the next window of samples is for.
    private enum Phase {
        /// To follow the knee.
        case following
        /// To find out whether fewer requests have a lower latency than before.
        case probing(previous: Double)
        /// To find the knee, in large steps.
        case climbing
    }

    /// The samples of a window.
    private struct Window {
        var count = 0
        var dropCount = 0
        /// The number of requests without a response in time, which say nothing about the latency.
        var lateCount = 0
        var queueCount = 0
        var latencySum = 0.0
        var squareSum = 0.0
        var inFlightSum = 0
        var start = Duration.zero

        mutating func add(_ latency: Double) {
            latencySum += latency
            squareSum += latency * latency
        }

        /// The mean latency, and its standard error in proportion to it.
        func latency(of count: Int) -> (mean: Double, error: Double) {
            let mean = latencySum / Double(count)
            guard mean > 0 else { return (mean, 0) }
            let variance = max(0, squareSum / Double(count) - mean * mean)
            return (mean, (variance / Double(count)).squareRoot() / mean)
        }
    }

    private static let headroom = 0.03
    /// By how much a latency may exceed the baseline by chance.
    private static let tolerance = 1.05
    private static let climbFactor = 1.5
    private static let probeFactor = 0.7
    private static let probeInterval: Duration = .seconds(10)
    private static let windowsBetweenProbes = 15...40
    /// By how many standard errors a latency may exceed the baseline by chance, in addition.
    private static let errorWeight = 0.75
    private static let minimumSampleCount = 100
    private static let climbSampleCount = 20
    /// A window that is not full ends after a time, with a few samples.
    private static let windowLength: Duration = .seconds(10)
    private static let fewestSampleCount = 10
    private static let fewestDropCount = 20

    private let range: ClosedRange<Double>
    /// The limit outside of probes.
    private var limit: Double
    private var level: Double
    private var baseline: Double?
    private var phase = Phase.following
    /// Whether the limit has reached the knee once.
    private var hasKnee = false
    /// The number of windows in a row in which there was room for more.
    private var growthCount = 0
    private var nextProbe = Duration.zero
    private var windowsSinceProbe = 0
    /// The limit at the last probe.
    private var probedLimit = 0.0
    /// The limit and the latency at which the limit began to fall.
    private var fallStart: (limit: Double, latency: Double)?
    /// The limit and the share of dropped requests at which the limit began to fall for them.
    private var dropStart: (limit: Double, share: Double)?
    /// The limit at which the server has dropped requests last; `nil` if it dropped nearly all.
    private var dropLimit: Double?
    private var window = Window()
    /// When the level changed last, and how many requests were in flight then; as many samples say little about it.
    private var change = Duration.zero
    private var skipCount: Int

    init(initial: Int, range: ClosedRange<Int>) {
        self.range = Double(range.lowerBound)...Double(range.upperBound)
        limit = Double(initial)
        level = limit
        skipCount = initial
    }

    /// The number of requests that may be in flight.
    var permits: Int { Int(level) }

    /// Adds a request that has ended.
    mutating func add(_ sample: Sample) {
        if skipCount > 0, sample.end - change < Self.windowLength {
            skipCount -= 1
            return
        }
        if window.count == 0 { window.start = sample.start }
        window.count += 1
        window.inFlightSum += sample.inFlight
        if sample.hasQueue { window.queueCount += 1 }
        switch sample.outcome {
        case .answered: window.add((sample.end - sample.start) / .seconds(1))
        case .refused: window.dropCount += 1
        case .late: window.lateCount += 1
        }
        let isOld = window.count >= Self.fewestSampleCount && sample.end - window.start >= Self.windowLength
        // Many drops need no mean.
        let lostCount = window.dropCount + window.lateCount
        let isRefused = lostCount >= Self.fewestDropCount && 4 * lostCount >= window.count
        guard window.count >= sampleCount || isOld || isRefused else { return }
        close(window, at: sample.end)
        window = Window()
    }

    /// The number of samples in a window, which is small while the limit climbs.
    private var sampleCount: Int {
        if case .climbing = phase { return climbSampleCount }
        return hasKnee ? max(Self.minimumSampleCount, 2 * permits) : climbSampleCount
    }

    private var climbSampleCount: Int {
        max(Self.climbSampleCount, min(5 * permits, Self.minimumSampleCount), permits)
    }

    private mutating func close(_ window: Window, at now: Duration) {
        let inFlight = Double(window.inFlightSum) / Double(window.count)
        let isSaturated = inFlight >= Self.probeFactor * Double(permits) && 2 * window.queueCount >= window.count
        // The limit may fall by half at most for each window.
        // A few late requests may have had little time left when they were sent; many were dropped.
        let isLate = 4 * window.lateCount >= window.count
        let dropShare = Double(window.dropCount + (isLate ? window.lateCount : 0)) / Double(window.count)
        let kept = max(0.5, 1 - 2 * dropShare)
        let answered = window.count - window.dropCount - window.lateCount
        guard answered > 0, kept > 0.75 else { return drop(kept, share: dropShare, inFlight, at: now) }
        if let start = dropStart, limit > start.limit { dropStart = nil }
        let (latency, error) = window.latency(of: answered)
        let gradient = isSaturated ? gradient(of: latency, error: error) : 1
        switch phase {
        case .probing(let previous):
            if isSaturated, latency < (0.85 - error) * previous, permits > Int(range.lowerBound) {
                return probe(latency, inFlight, at: now)
            }
            note(inFlight, at: now)
            let isFirst = baseline == nil
            setBaseline(latency)
            phase = isFirst ? .climbing : .following
            // The latency rose again two steps above this level at most.
            move(to: isFirst ? level : min(limit, level / (Self.probeFactor * Self.probeFactor)))
        case .climbing:
            note(inFlight, at: now)
            guard isSaturated else { return setBaseline(latency) }
            guard gradient > 0.75 else {
                hasKnee = true
                phase = .following
                // The first baseline is coarse.
                nextProbe = now
                return follow(min(gradient, kept), isSaturated: true)
            }
            climb()
        case .following:
            if isSaturated, isFallingInVain(latency) {
                baseline = latency
            } else if !isSaturated {
                setBaseline(latency)
            }
            follow(min(gradient, kept), isSaturated: isSaturated)
            // A limit that has fallen a lot may have fallen for a baseline that was too low by chance.
            windowsSinceProbe += 1
            guard isSaturated, isProbeDue(at: now) || baseline == nil else { return }
            probedLimit = limit
            probe(latency, inFlight, at: now)
        }
    }

    private func isProbeDue(at now: Duration) -> Bool {
        (now >= nextProbe && Self.windowsBetweenProbes.contains(windowsSinceProbe))
            || windowsSinceProbe > Self.windowsBetweenProbes.upperBound || limit <= 0.6 * probedLimit
    }

    /// Raises the limit in a large step, but only by one close to where the server has dropped requests.
    private mutating func climb() {
        let next = limit * Self.climbFactor
        let near = 0.9 * (dropLimit ?? .infinity)
        move(to: next < near ? next : max(limit + 1, min(next, near)))
    }

    /// Lowers the limit because the server drops requests; it climbs again when that ends.
    ///
    /// If half of the limit does not lower the share of dropped requests, it is not the load that makes the server drop
    /// them, and the limit returns. A server that drops nearly all is down.
    private mutating func drop(_ kept: Double, share: Double, _ inFlight: Double, at now: Duration) {
        growthCount = 0
        if let start = dropStart, limit <= 0.5 * start.limit, share < 0.9 {
            if share > 0.8 * start.share { limit = start.limit / kept }
            dropStart = nil
        }
        if dropStart == nil { dropStart = (limit, share) }
        dropLimit = share < 0.9 ? limit : nil
        move(to: limit * kept)
        note(inFlight, at: now)
        // Without a baseline, it could not notice when to stop.
        phase = baseline == nil ? .following : .climbing
    }

    /// Notes that the level has changed.
    private mutating func note(_ inFlight: Double, at now: Duration) {
        change = now
        skipCount = Int(inFlight.rounded(.up))
    }

    /// Lowers the level to see whether that lowers the latency.
    private mutating func probe(_ latency: Double, _ inFlight: Double, at now: Duration) {
        note(inFlight, at: now)
        nextProbe = now + Self.probeInterval
        windowsSinceProbe = 0
        phase = .probing(previous: latency)
        level = max(range.lowerBound, (level * Self.probeFactor).rounded(.down))
    }

    /// Returns by which factor the requests in flight exceed the knee, as a number in `0.5...1`.
    private func gradient(of latency: Double, error: Double) -> Double {
        guard let baseline, latency > 0 else { return 1 }
        return min(1, max(0.5, (Self.tolerance + Self.errorWeight * error) * baseline / latency))
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
