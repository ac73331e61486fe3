import Pipeline

@testable import PipelineResilience

/// A meter that hands out as many permits at a time as it has.
struct CountingMeter: TrafficMeter {
    let limit: Int
    var inUse = 0
    var mostInUse = 0

    init(limit: Int) { self.limit = limit }

    func isIdle(at now: PipelineClock.Instant) -> Bool { inUse == 0 }

    func availability(of cost: Int, at now: PipelineClock.Instant, waiting: Int) -> MeterAvailability {
        if cost > limit { return .never }
        return inUse + cost <= limit ? .now : .afterChange
    }

    mutating func take(_ cost: Int, at now: PipelineClock.Instant) {
        inUse += cost
        mostInUse = max(mostInUse, inUse)
    }

    mutating func release(_ cost: Int = 1) { inUse -= cost }
}

/// A meter that hands out one permit per interval.
struct SpacedMeter: TrafficMeter {
    let interval: Duration
    var next: PipelineClock.Instant?

    func availability(of cost: Int, at now: PipelineClock.Instant, waiting: Int) -> MeterAvailability {
        guard let next, next > now else { return .now }
        return .at(next)
    }

    mutating func take(_ cost: Int, at now: PipelineClock.Instant) {
        next = now.advanced(by: interval * cost)
    }
}

/// A meter whose next permit is always a while away, and whose work takes long.
struct SlowMeter: TrafficMeter {
    let mean: Duration
    let bound: Duration
    var wait = Duration.zero

    func leadTime(ofWaiting waits: Bool) -> Duration { waits ? bound : mean }

    func availability(of cost: Int, at now: PipelineClock.Instant, waiting: Int) -> MeterAvailability {
        .at(now.advanced(by: wait))
    }

    mutating func take(_ cost: Int, at now: PipelineClock.Instant) {}
}
