import PipelineCore

/// The rule by which a ``PermitQueue`` hands out permits, as a value.
protocol TrafficMeter: Sendable {
    /// Whether a new meter would behave like this one, so that it may be dropped.
    mutating func isIdle(at now: PipelineClock.Instant) -> Bool

    /// Returns how long before its deadline a call must have its permits for its work to end in time.
    ///
    /// - Parameter waits: whether the call waits for its permits, so that it may have to go without them.
    /// - Returns: the time, zero and up.
    func leadTime(ofWaiting waits: Bool) -> Duration

    /// Returns when a call can have its permits if no other call takes any before.
    ///
    /// - Parameters:
    ///   - cost: the number of permits.
    ///   - now: the current moment, never earlier than in the call before.
    ///   - waiting: the number of calls that wait, including this one.
    /// - Returns: the availability. The moment of `.at` is later than `now`.
    mutating func availability(of cost: Int, at now: PipelineClock.Instant, waiting: Int) -> MeterAvailability

    /// Takes permits that are available now.
    mutating func take(_ cost: Int, at now: PipelineClock.Instant)
}

/// When permits are available.
enum MeterAvailability: Sendable, Hashable {
    /// The permits are available.
    case now
    /// The permits become available at a moment.
    case at(PipelineClock.Instant)
    /// The permits become available only by a change of the meter, such as a release.
    case afterChange
    /// The meter never hands out this many permits.
    case never

    /// Returns the time until the permits are available, if it is known.
    func wait(from now: PipelineClock.Instant) -> Duration? {
        guard case .at(let moment) = self else { return nil }
        return now.duration(to: moment)
    }
}

extension TrafficMeter {
    /// The default, `true`: the meter has no state that must be kept.
    func isIdle(at now: PipelineClock.Instant) -> Bool { true }

    /// The default, zero: the meter does not know how long the work takes.
    func leadTime(ofWaiting waits: Bool) -> Duration { .zero }
}
