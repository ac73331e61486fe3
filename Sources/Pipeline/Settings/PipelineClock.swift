public import Foundation

/// Any clock, so that time can be real or virtual.
///
/// It is a `Clock` itself: `clock.sleep(for:)` and `clock.measure` work as on any other.
public struct PipelineClock: Clock, Sendable {
    /// A moment, as time since the clock's origin.
    ///
    /// Two instants can be compared if their clocks wrap `ContinuousClock`, wrap `SuspendingClock`, wrap the same ``DatedClock``
    /// that has a fixed origin (as `ManualClock` of `PipelineTesting` has), or are the same `PipelineClock`. So a plugin that
    /// several providers share can keep an instant if the providers use such a clock. Any other clock counts from the moment at
    /// which it was wrapped, once for each provider; to share one, wrap it once and pass the `PipelineClock` to all of them.
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

    /// One reference to copy: every call reads the clock several times, and all calls share it.
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
            if let clock = clock as? any DatedClock {
                makeDate = { clock.date }
            } else {
                makeDate = { Date() }
            }
        }
    }

    private let source: Source

    /// From when the system's continuous clock counts; `nil` for any other clock.
    ///
    /// With it, `now` uses nothing that calls share, whose references they would have to count.
    private let systemOrigin: ContinuousClock.Instant?

    /// The smallest step of the clock.
    public let minimumResolution: Duration

    /// Wraps a clock; a `PipelineClock` stays the same.
    public init<Wrapped: Clock>(_ clock: Wrapped) where Wrapped.Duration == Swift.Duration {
        let other = clock as? PipelineClock
        source = other?.source ?? Source(clock)
        systemOrigin = clock is ContinuousClock ? Self.continuousOrigin : other?.systemOrigin
        minimumResolution = clock.minimumResolution
    }

    private static let continuousOrigin = ContinuousClock.now
    private static let suspendingOrigin = SuspendingClock.now

    /// The moment from which to count: for the system's clocks the same in the whole process.
    private static func origin<Wrapped: Clock>(of clock: Wrapped) -> Wrapped.Instant {
        let origin: (any InstantProtocol)?
        switch clock {
        case is ContinuousClock: origin = continuousOrigin
        case is SuspendingClock: origin = suspendingOrigin
        case let clock as any DatedClock: origin = clock.origin
        default: origin = nil
        }
        return origin as? Wrapped.Instant ?? clock.now
    }

    /// The present moment.
    public var now: Instant {
        Instant(offset: systemOrigin.map { $0.duration(to: .now) } ?? source.makeNow())
    }

    /// Whether it measures real time.
    var isOfSystem: Bool { source.isOfSystem }

    /// The present date: that of a ``DatedClock``, else the system's.
    public var date: Date { source.makeDate() }

    /// Waits until a moment, at most 100 years; throws `CancellationError` when the task is cancelled before.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        // A clock of the system stops the program when it is asked to wait for longer than it can count.
        let latest = now.advanced(by: .seconds(100 * 365 * 86_400))
        try await source.sleep(min(deadline, latest).offset, tolerance)
    }

    /// Runs the work, and cancels it if it takes longer than the timeout.
    func run<Value: Sendable>(
        within timeout: Duration,
        phase: PipelineError.Code.TimeoutPhase = .attempt,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await run(
            until: now.advanced(by: timeout),
            throwing: PipelineError(.timeout(phase), "the \(phase.what) took longer than \(timeout)"),
            work
        )
    }

    /// Runs the work, and cancels it if it has not ended by a deadline; does not start it if the deadline has passed.
    ///
    /// ```swift
    /// let deadline = context.clock.now.advanced(by: .seconds(2))
    /// return try await context.clock.run(until: deadline, throwing: PipelineError(.timeout(.total), "too late")) {
    ///     try await next(request)
    /// }
    /// ```
    ///
    /// It returns only when the work has ended, so the work must respond to cancellation.
    ///
    /// - Parameters:
    ///   - deadline: the moment by which the work must have ended.
    ///   - timeout: the error that is thrown if it has not.
    ///   - work: the work.
    /// - Returns: the result of the work.
    /// - Throws: the timeout, and the errors of the work.
    public func run<Value: Sendable>(
        until deadline: Instant,
        throwing timeout: @autoclosure () -> PipelineError,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard now < deadline else { throw timeout() }
        return try await run(throwing: timeout(), work) { try await sleepInSteps(until: deadline) }
    }

    /// Runs the work, and cancels it when the time of its attempt is up.
    func run<Value: Sendable>(
        by timer: AttemptTimer,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await run(throwing: timer.timeoutError, work) {
            while let next = timer.nextLook(at: now) { try await sleepInSteps(until: next) }
        }
    }

    /// Runs the work, and cancels it when the wait is over before.
    private func run<Value: Sendable>(
        throwing timeout: @autoclosure () -> PipelineError,
        _ work: @escaping @Sendable () async throws -> Value,
        wait: @escaping @Sendable () async throws -> Void
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                try await wait()
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let value = first else { throw timeout() }
            return value
        }
    }

    /// What is waited for at a time, of a wait that may end early.
    ///
    /// The runtime keeps the timer of a sleep that was cancelled until its time has come: in steps, each as long as all before it
    /// and the first a second, a body of a million pieces does not leave a million timers of a minute.
    private func sleepInSteps(until deadline: Instant) async throws {
        guard isOfSystem else { return try await sleep(until: deadline) }
        let start = now
        var reached = start
        while reached < deadline {
            reached = Self.stop(after: reached, from: start, to: deadline)
            try await sleep(until: reached)
        }
    }

    static func stop(after reached: Instant, from start: Instant, to deadline: Instant) -> Instant {
        let step = max(.seconds(1), start.duration(to: reached))
        return reached.advanced(by: min(step, reached.duration(to: deadline)))
    }
}
