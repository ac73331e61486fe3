import PipelineCore

/// The permits of a partition: how many there are, how many are in use, and how long requests keep them.
struct PermitMeter: TrafficMeter {
    typealias Outcome = AdaptiveLimit.Outcome

    private let fixed: Int
    private var adaptive: AdaptiveLimit?
    private(set) var inUse = 0
    /// The number of calls that waited when one asked for a permit last.
    private var waitingCount = 0
    /// The moment from which an adaptive limit counts.
    private var origin: PipelineClock.Instant?
    /// The mean time for which requests kept their permits, and its mean deviation; `nil` before the first response.
    private var latency: (mean: Duration, deviation: Duration)?

    init(_ limit: ConcurrencyLimit) {
        fixed = limit.initial
        adaptive = limit.range.map { AdaptiveLimit(initial: limit.initial, range: $0) }
    }

    /// The number of requests that may be in flight.
    var limit: Int { adaptive?.permits ?? fixed }

    func isIdle(at now: PipelineClock.Instant) -> Bool { inUse == 0 }

    mutating func availability(of cost: Int, at now: PipelineClock.Instant, waiting: Int) -> MeterAvailability {
        let isFree = inUse < limit
        waitingCount = isFree ? waiting - 1 : waiting
        return isFree ? .now : .afterChange
    }

    mutating func take(_ cost: Int, at now: PipelineClock.Instant) {
        if origin == nil { origin = now }
        inUse += 1
    }

    /// Returns the expected latency, or an upper bound that few requests exceed for a call that waits.
    ///
    /// A call that waits until the last moment would fail half of the time if it left only the expected latency, and
    /// the server would work in vain. The bound is that of RFC 6298 for retransmissions.
    func leadTime(ofWaiting waits: Bool) -> Duration {
        // One request goes in any case, because only a response can correct the latency.
        guard let latency, inUse > 0 else { return .zero }
        return waits ? latency.mean + latency.deviation * 4 : latency.mean
    }

    /// Returns a permit; the outcome is `nil` if the request says nothing about the server.
    mutating func release(from start: PipelineClock.Instant, to end: PipelineClock.Instant, _ outcome: Outcome?) {
        if let outcome { learn(start, end, outcome) }
        inUse -= 1
    }

    private mutating func learn(
        _ start: PipelineClock.Instant,
        _ end: PipelineClock.Instant,
        _ outcome: Outcome
    ) {
        let origin = origin ?? start
        adaptive?.add(
            AdaptiveLimit.Sample(
                start: origin.duration(to: start),
                end: origin.duration(to: end),
                inFlight: inUse,
                hasQueue: waitingCount > 0,
                outcome: outcome
            )
        )
        let duration = start.duration(to: end)
        // A refusal may come at once, so it counts only if it shows that requests take longer.
        if outcome == .answered || latency.map({ duration > $0.mean }) ?? false { addLatency(duration) }
    }

    private mutating func addLatency(_ duration: Duration) {
        guard let (mean, deviation) = latency else {
            latency = (duration, duration / 2)
            return
        }
        let difference = duration - mean
        let distance = difference < .zero ? .zero - difference : difference
        latency = (mean + difference / 32, deviation + (distance - deviation) / 32)
    }
}
