public import Foundation

/// A wrapper around any clock, real or virtual.
///
/// It is a `Clock`: `clock.sleep(for:)` and `clock.measure` work as on any other clock.
public struct PipelineClock: Clock, Sendable {
    /// A moment, measured from the clock's origin.
    ///
    /// Two instants can be compared in any of these cases:
    ///
    /// - Both clocks wrap `ContinuousClock`, or both wrap `SuspendingClock`.
    /// - Both clocks wrap the same ``PipelineClock/DatedClock`` with a fixed origin, such as `ManualClock` of
    ///   `PipelineTesting`.
    /// - Both clocks are the same `PipelineClock`.
    ///
    /// A plugin that several providers share can keep an instant if the providers use such clocks. Any other clock
    /// counts from the moment at which it was wrapped, which differs for each provider. To share one, wrap it once and
    /// pass the `PipelineClock` to all providers.
    public struct Instant: InstantProtocol {
        let offset: Duration

        /// Returns the moment that is later by a duration.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        /// Returns the duration from this moment to another, negative if the other is earlier.
        public func duration(to other: Instant) -> Duration {
            other.offset - offset
        }

        /// Returns whether the first moment is earlier than the second.
        public static func < (lhs: Instant, rhs: Instant) -> Bool {
            lhs.offset < rhs.offset
        }
    }

    /// A single reference to copy: every call reads the clock several times, and all calls share it.
    private final class Source: Sendable {
        let makeNow: @Sendable () -> Duration
        let sleep: @Sendable (Duration, Duration?) async throws -> Void
        let makeDate: @Sendable () -> Date
        let isOfSystem: Bool

        init<Wrapped: Clock>(_ clock: Wrapped) where Wrapped.Duration == Swift.Duration {
            let origin = PipelineClock.origin(of: clock)
            makeNow = { origin.duration(to: clock.now) }
            sleep = { deadline, tolerance in
                try await clock.sleep(until: origin.advanced(by: deadline), tolerance: tolerance)
            }
            isOfSystem = clock is ContinuousClock || clock is SuspendingClock
            if let clock = clock as? any PipelineClock.DatedClock {
                makeDate = { clock.date }
            } else {
                makeDate = { Date() }
            }
        }
    }

    private let source: Source

    /// Whether a clock is a copy of this one.
    package func isSame(as other: PipelineClock) -> Bool { source === other.source }

    /// The origin of the system's continuous clock; `nil` for any other clock.
    ///
    /// With it, `now` uses no reference that calls share, and so needs no reference counting.
    private let systemOrigin: ContinuousClock.Instant?

    /// The smallest step of the clock.
    public let minimumResolution: Duration

    /// Wraps a clock; a `PipelineClock` is not wrapped again.
    public init<Wrapped: Clock>(_ clock: Wrapped) where Wrapped.Duration == Swift.Duration {
        let other = clock as? PipelineClock
        source = other?.source ?? Source(clock)
        systemOrigin = clock is ContinuousClock ? Self.continuousOrigin : other?.systemOrigin
        minimumResolution = clock.minimumResolution
    }

    private static let continuousOrigin = ContinuousClock.now
    private static let suspendingOrigin = SuspendingClock.now

    /// Returns the origin from which to count; for each of the system's clocks, it is the same in the whole process.
    private static func origin<Wrapped: Clock>(of clock: Wrapped) -> Wrapped.Instant {
        let origin: (any InstantProtocol)?
        switch clock {
        case is ContinuousClock: origin = continuousOrigin
        case is SuspendingClock: origin = suspendingOrigin
        case let clock as any PipelineClock.DatedClock: origin = clock.origin
        default: origin = nil
        }
        return origin as? Wrapped.Instant ?? clock.now
    }

    /// The current moment of the wrapped clock.
    public var now: Instant {
        Instant(offset: systemOrigin.map { $0.duration(to: .now) } ?? source.makeNow())
    }

    /// Whether the clock measures real time.
    var isOfSystem: Bool { source.isOfSystem }

    /// The current date: that of a ``PipelineClock/DatedClock``, otherwise the system's.
    public var date: Date { source.makeDate() }

    /// Waits until a moment, at most 100 years; throws `CancellationError` if the task is cancelled first.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        // The system's clocks crash if they are asked for a longer wait than they can count.
        let latest = now.advanced(by: .seconds(100 * 365 * 86_400))
        try await source.sleep(min(deadline, latest).offset, tolerance)
    }

    /// Runs the work and cancels it if it takes longer than the timeout.
    func run<Value: Sendable>(
        within timeout: Duration,
        phase: PipelineError.Code.TimeoutPhase = .attempt,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await run(
            until: now.advanced(by: timeout),
            throwing: PipelineError(.timeout(phase), "the \(phase.what) took longer than \(timeout.text)"),
            work
        )
    }

    /// Runs the work and cancels it if it has not ended by a deadline; if the deadline has passed, the work is not
    /// started.
    ///
    /// ```swift
    /// let deadline = context.clock.now.advanced(by: .seconds(2))
    /// return try await context.clock.run(until: deadline, throwing: PipelineError(.timeout(.total), "too late")) {
    ///     try await next(request)
    /// }
    /// ```
    ///
    /// The function returns only when the work has ended, so the work must respond to cancellation.
    ///
    /// - Parameters:
    ///   - deadline: the moment by which the work must have ended.
    ///   - timeout: the error to throw if it has not.
    ///   - work: the work to run.
    /// - Returns: the result of the work.
    /// - Throws: `timeout`, or an error of the work.
    public func run<Value: Sendable>(
        until deadline: Instant,
        throwing timeout: @autoclosure () -> PipelineError,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard now < deadline else { throw timeout() }
        return try await run(throwing: timeout(), work) { now < deadline ? deadline : nil }
    }

    /// Runs the work and cancels it if its attempt times out.
    func run<Value: Sendable>(
        by timer: AttemptTimer,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await run(throwing: timer.timeoutError, work) { timer.nextLook(at: now) }
    }

    /// Runs the work and cancels it once there is no later moment to look.
    private func run<Value: Sendable>(
        throwing timeout: @autoclosure () -> PipelineError,
        _ work: @escaping @Sendable () async throws -> Value,
        nextLook: @escaping @Sendable () -> Instant?
    ) async throws -> Value {
        if let timers { return try await run(on: timers, throwing: timeout(), work, nextLook: nextLook) }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                while let next = nextLook() { try await sleep(until: next) }
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let value = first else { throw timeout() }
            return value
        }
    }

    /// The timers of the wrapped clock; `nil` unless it is one of the system's.
    private var timers: TimerQueue? {
        systemOrigin != nil ? .continuous : isOfSystem ? .suspending : nil
    }
}
