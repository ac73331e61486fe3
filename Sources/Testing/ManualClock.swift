public import Foundation
public import PipelineCore

/// A clock whose time changes only when a test advances it.
///
/// ```swift
/// let clock = ManualClock()
/// async let response = provider.request(.slow)
/// try await clock.waitForSleepers()
/// clock.advance(by: .seconds(2))
/// ```
public final class ManualClock: DatedClock, Sendable {
    /// A moment of the clock, as the time since its origin.
    public struct Instant: InstantProtocol {
        /// The time since the clock's origin.
        public let offset: Duration

        /// Returns the moment that is later by a duration.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        /// Returns the duration from this moment to the other one, negative if the other one is earlier.
        public func duration(to other: Instant) -> Duration {
            other.offset - offset
        }

        /// Returns whether the first moment is earlier than the second.
        public static func < (lhs: Instant, rhs: Instant) -> Bool {
            lhs.offset < rhs.offset
        }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var nextID = 0
        var sleepers: [Int: Waiter] = [:]
        /// The deadlines of all sleepers.
        var deadlines = DeadlineHeap()
        /// Called after a sleeper has been added, by the run that it belongs to.
        var sleepObservers: [Int: @Sendable () -> Void] = [:]

        mutating func makeID() -> Int {
            nextID += 1
            return nextID
        }

        mutating func add(_ sleeper: Waiter, until deadline: Instant) -> Int {
            let id = makeID()
            sleepers[id] = sleeper
            deadlines.insert(DeadlineHeap.Entry(deadline: deadline, id: id))
            if deadlines.count > 2 * sleepers.count + 64 { deadlines.compact { sleepers[$0.id] != nil } }
            return id
        }

        /// The earliest deadline of a sleeper.
        mutating func earliestDeadline() -> Instant? {
            while let first = deadlines.first {
                if sleepers[first.id] != nil { return first.deadline }
                deadlines.removeFirst()
            }
            return nil
        }

        /// Removes and returns the sleepers whose deadline has been reached, the earliest first.
        mutating func takeDue() -> [Waiter] {
            var due: [Waiter] = []
            while let deadline = earliestDeadline(), deadline <= now, let first = deadlines.first {
                deadlines.removeFirst()
                if let sleeper = sleepers.removeValue(forKey: first.id) { due.append(sleeper) }
            }
            return due
        }
    }

    private let state = Watched(State())

    private let startDate: Date

    /// Creates a clock whose time is its origin.
    ///
    /// - Parameter date: the date at the origin; defaults to 2026-01-01 00:00:00 UTC.
    public init(date: Date = Date(timeIntervalSince1970: 1_767_225_600)) {
        startDate = date
    }

    /// The moment at which the clock starts.
    public var origin: Instant { Instant(offset: .zero) }

    /// The moment that the clock shows now.
    public var now: Instant { state.read { $0.now } }

    /// The date at the origin plus the time by which the clock was advanced.
    public var date: Date { startDate.addingTimeInterval(now.offset / .seconds(1)) }

    /// Always zero, because the clock has no smallest step.
    public var minimumResolution: Duration { .zero }

    /// The number of tasks that are sleeping.
    public var sleeperCount: Int { state.read { $0.sleepers.count } }

    /// Waits until the clock reaches the deadline; throws `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let sleeper = Waiter()
        let added: (id: Int, observers: [@Sendable () -> Void])? = state.update { state in
            guard deadline > state.now else { return nil }
            return (state.add(sleeper, until: deadline), Array(state.sleepObservers.values))
        }
        guard let (id, observers) = added else { return }
        for observer in observers { observer() }
        try await sleeper.wait { state.update { _ = $0.sleepers.removeValue(forKey: id) } }
    }

    /// Calls a closure after each sleeper that is added, until the returned number is removed.
    func observeSleepers(_ observer: @escaping @Sendable () -> Void) -> Int {
        state.update { state in
            let id = state.makeID()
            state.sleepObservers[id] = observer
            return id
        }
    }

    func removeObserver(_ id: Int) { state.update { _ = $0.sleepObservers.removeValue(forKey: id) } }

    /// Advances the clock and wakes the sleepers whose deadline it reaches, the earliest first.
    ///
    /// The duration must not be negative.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "time does not run backwards: \(duration)")
        let woken = state.update { state in
            state.now = state.now.advanced(by: duration)
            return state.takeDue()
        }
        for sleeper in woken { sleeper.end() }
    }

    /// The time to the earliest deadline of a sleeper, `nil` if no task is sleeping.
    var timeToNextSleeper: Duration? {
        state.update { state in state.earliestDeadline().map { state.now.duration(to: $0) } }
    }

    /// Waits until at least this many tasks are sleeping, one by default.
    ///
    /// - Throws: ``WaitTimeout`` after two minutes of real time; `CancellationError` as soon as the task is cancelled.
    public func waitForSleepers(_ count: Int = 1) async throws {
        try await state.wait {
            $0.sleepers.count >= count
        } orFailWith: {
            "a test waited in vain for \(count) sleepers; there are \($0.sleepers.count)"
        }
    }

    /// Advances the clock to the earliest deadline if any task is sleeping; does not wait for one.
    ///
    /// - Returns: whether a task was sleeping.
    @discardableResult
    public func advanceIfAnyoneSleeps() -> Bool {
        let woken: [Waiter] = state.update { state in
            guard let earliest = state.earliestDeadline() else { return [] }
            state.now = max(state.now, earliest)
            return state.takeDue()
        }
        for sleeper in woken { sleeper.end() }
        return !woken.isEmpty
    }

    /// Waits until a task is sleeping, then advances the clock to the earliest deadline.
    ///
    /// - Returns: the time by which the clock was advanced.
    /// - Throws: ``WaitTimeout`` after two minutes of real time; `CancellationError` as soon as the task is cancelled.
    @discardableResult
    public func advanceToNextSleeper() async throws -> Duration {
        try await waitForSleepers()
        let distance = timeToNextSleeper ?? .zero
        advance(by: distance)
        return distance
    }
}
