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
    private var origin: PipelineClock.Instant?
    /// The refusal that closed the gate last; `nil` if a response that was accepted did.
    private var gateCause: PipelineError.RefusalCause?
    /// Not `nil` while the server refuses requests without saying for how long.
    private var throttle: ClientThrottle?

    init(_ limit: RateLimit?, spread: Duration, isShared: Bool) {
        self.limit = limit
        reservableCost = isShared ? limit?.reservableCost : nil
        window = limit?.window
        gate = RateGate(spread: spread)
    }

    mutating func isIdle(at now: PipelineClock.Instant) -> Bool {
        let moment = moment(now)
        if throttle?.isOver(at: now) == false { return false }
        return gate.isIdle(at: now) && window?.isIdle(at: moment) ?? true
    }

    mutating func availability(
        of cost: Int,
        at now: PipelineClock.Instant,
        waiting: Int
    ) -> MeterAvailability {
        if let limit, cost > limit.count { return .never }
        let pass = gate.isIdle ? nil : gate.nextPass(at: now, waiting: waiting)
        let moment = moment(now)
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
        let moment = moment(now)
        window?.reserve(cost, at: moment)
    }

    /// Notes that a request that has its permits is sent now; `nil` without a limit.
    mutating func depart(_ cost: Int, at now: PipelineClock.Instant) -> Flight? {
        let moment = moment(now)
        return (window?.depart(cost, at: moment)).map { Flight(number: $0, cost: cost) }
    }

    /// Returns permits that are not used.
    mutating func cancel(_ cost: Int, at now: PipelineClock.Instant) {
        let moment = moment(now)
        window?.cancel(cost, at: moment)
    }

    /// Returns the permits of a request of which nothing was sent.
    mutating func cancel(_ flight: Flight, at now: PipelineClock.Instant) {
        let moment = moment(now)
        window?.cancel(flight.cost, of: flight.number, at: moment)
    }

    /// Notes that the response to a request has begun.
    mutating func arrive(_ flight: Flight, at now: PipelineClock.Instant) {
        let moment = moment(now)
        window?.arrive(flight.cost, of: flight.number, at: moment)
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

    /// Returns the nanoseconds since the first call.
    private mutating func moment(_ now: PipelineClock.Instant) -> Int64 {
        guard window != nil else { return 0 }
        guard let origin else {
            origin = now
            return 0
        }
        // The sum of two moments must not overflow.
        return min(Int64(clamping: origin.duration(to: now).attoseconds / 1_000_000_000), .max / 4)
    }
}
