import PipelineCore

/// The rate limit and the gate of one partition.
struct RateMeter: TrafficMeter {
    /// A request that is being sent.
    struct Flight: Sendable {
        fileprivate let number: Int
        fileprivate let cost: Int
    }

    private let limit: RateLimit?
    /// How much may be reserved in a shared store at the same time; `nil` without one.
    private let reservableCost: Int?
    private var window: RateWindow?
    private var gate: RateGate
    /// The moment from which the window counts nanoseconds.
    private let origin: PipelineClock.Instant
    /// The refusal that closed the gate last; `nil` if a response that was accepted did.
    private var gateCause: PipelineError.RefusalCause?
    /// Not `nil` while the server refuses requests without saying for how long.
    private var throttle: ClientThrottle?

    init(_ limit: RateLimit?, spread: Duration, isShared: Bool, at now: PipelineClock.Instant) {
        self.limit = limit
        reservableCost = isShared ? limit?.reservableCost : nil
        window = limit?.window
        gate = RateGate(spread: spread)
        origin = now
    }

    mutating func isIdle(at now: PipelineClock.Instant) -> Bool {
        if throttle?.isOver(at: now) == false { return false }
        return gate.isIdle(at: now) && window?.isIdle(at: now.nanoseconds(since: origin)) ?? true
    }

    mutating func availability(
        of cost: Int,
        at now: PipelineClock.Instant,
        waiting: Int
    ) -> MeterAvailability {
        if let limit, cost > limit.count { return .never }
        let pass = gate.isIdle ? nil : gate.nextPass(at: now, waiting: waiting)
        let moment = now.nanoseconds(since: origin)
        switch window?.availability(of: cost, at: moment) {
        case .afterChange: return .afterChange
        case .at(let other):
            let instant = now.advanced(by: .nanoseconds(other - moment))
            return .at(pass.map { max($0, instant) } ?? instant)
        case .now, nil:
            if let pass { return .at(pass) }
            if let reservableCost, let reserved = window?.reservedCost, reserved > 0, reserved + cost > reservableCost {
                return .afterChange
            }
            return .now
        }
    }

    mutating func take(_ cost: Int, at now: PipelineClock.Instant) {
        gate.pass(at: now)
        window?.reserve(cost, at: now.nanoseconds(since: origin))
    }

    /// Notes that a request that has its permits is sent now; `nil` without a limit.
    mutating func depart(_ cost: Int, at now: PipelineClock.Instant) -> Flight? {
        let number = window?.depart(cost, at: now.nanoseconds(since: origin))
        return number.map { Flight(number: $0, cost: cost) }
    }

    /// Returns permits that are not used.
    mutating func cancel(_ cost: Int, at now: PipelineClock.Instant) {
        window?.cancel(cost, at: now.nanoseconds(since: origin))
    }

    /// Returns the permits of a request of which nothing was sent.
    mutating func cancel(_ flight: Flight, at now: PipelineClock.Instant) {
        window?.cancel(flight.cost, of: flight.number, at: now.nanoseconds(since: origin))
    }

    /// Notes that the response to a request has begun.
    mutating func arrive(_ flight: Flight, at now: PipelineClock.Instant) {
        window?.arrive(flight.cost, of: flight.number, at: now.nanoseconds(since: origin))
    }

    /// Closes the gate because of a response; returns whether it stays closed for longer than before.
    ///
    /// `refusal` is the status with which the server has turned the request away; `nil` if it has not.
    mutating func close(
        until moment: PipelineClock.Instant,
        refusal: Int?,
        at now: PipelineClock.Instant
    ) -> Bool {
        guard gate.close(until: moment, isRejected: refusal != nil, at: now) else { return false }
        gateCause = refusal.map { PipelineError.RefusalCause(code: .unacceptableStatus, statusCode: $0) }
        return true
    }

    /// The refusal for which the gate holds calls back; `nil` if there was none.
    func cause(at now: PipelineClock.Instant) -> PipelineError.RefusalCause? { gate.isIdle(at: now) ? nil : gateCause }

    /// Notes that the server has refused a request without saying for how long.
    mutating func beginThrottling(at now: PipelineClock.Instant) {
        if throttle == nil { throttle = ClientThrottle(at: now) }
    }

    /// Returns the share of requests that are not sent.
    mutating func refusalShare(at now: PipelineClock.Instant) -> Double {
        if throttle?.isOver(at: now) == true { throttle = nil }
        return throttle?.refusalShare(at: now) ?? 0
    }

    /// The share of requests that are not sent at a moment, for a report.
    func throttledShare(at now: PipelineClock.Instant) -> Double { throttle?.share(at: now) ?? 0 }

    /// Notes that the server has accepted a request.
    mutating func accept(at now: PipelineClock.Instant) { throttle?.accept(at: now) }

    /// Returns for how long the gate stays closed; `nil` if it is open.
    func closure(at now: PipelineClock.Instant) -> Duration? {
        gate.opening.flatMap { $0 > now ? now.duration(to: $0) : nil }
    }
}

extension PipelineClock.Instant {
    /// Returns the nanoseconds since an earlier moment, so far from overflowing that two of them can be added.
    fileprivate func nanoseconds(since origin: Self) -> Int64 {
        min(Int64(clamping: origin.duration(to: self).attoseconds / 1_000_000_000), .max / 4)
    }
}
