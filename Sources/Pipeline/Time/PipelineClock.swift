/// Any clock, so that time can be real or virtual.
///
/// It is a `Clock` itself: `clock.sleep(for:)` and `clock.measure` work as on any other.
public struct PipelineClock: Clock, Sendable {
    /// A moment, as time since the clock was made.
    public struct Instant: InstantProtocol {
        let offset: Duration

        /// The moment that is so much later.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        /// How much later the other moment is.
        public func duration(to other: Instant) -> Duration {
            other.offset - offset
        }

        /// Whether the first moment is earlier.
        public static func < (lhs: Instant, rhs: Instant) -> Bool {
            lhs.offset < rhs.offset
        }
    }

    private let makeNow: @Sendable () -> Duration
    private let sleep: @Sendable (Duration, Duration?) async throws -> Void

    /// The smallest step of the clock.
    public let minimumResolution: Duration

    /// Wraps a clock.
    public init<Wrapped: Clock>(_ clock: Wrapped) where Wrapped.Duration == Swift.Duration {
        let origin = clock.now
        makeNow = { origin.duration(to: clock.now) }
        sleep = { deadline, tolerance in
            try await clock.sleep(until: origin.advanced(by: deadline), tolerance: tolerance)
        }
        minimumResolution = clock.minimumResolution
    }

    /// The present moment.
    public var now: Instant { Instant(offset: makeNow()) }

    /// Waits until a moment; throws `CancellationError` when the task is cancelled before.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await sleep(deadline.offset, tolerance)
    }
}
