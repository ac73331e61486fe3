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
public final class ManualClock: PipelineClock.DatedClock, Sendable {
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

    private struct Sleeper {
        let deadline: Instant
        let id: Int
        let waiter: Waiter
    }

    private struct State {
        var now = Instant(offset: .zero)
        var lastID = 0
        /// The earliest deadline last; of equal deadlines, the first sleeper last.
        var sleepers: [Sleeper] = []
        /// Called after a sleeper has been added, by the run that it belongs to.
        var sleepObservers: [Int: @Sendable () -> Void] = [:]

        mutating func makeID() -> Int {
            lastID += 1
            return lastID
        }

        /// The index of a sleeper, or the one at which to insert it.
        func index(_ deadline: Instant, _ id: Int) -> Int {
            sleepers.partitionIndex { ($0.deadline, $0.id) > (deadline, id) }
        }

        /// Adds a sleeper unless it was cancelled or its deadline has been reached.
        ///
        /// - Returns: the observers to call.
        mutating func add(_ sleeper: Sleeper) -> [@Sendable () -> Void] {
            if sleeper.deadline <= now { sleeper.waiter.end() }
            guard !sleeper.waiter.hasEnded else { return [] }
            sleepers.insert(sleeper, at: index(sleeper.deadline, sleeper.id))
            return Array(sleepObservers.values)
        }

        mutating func remove(_ deadline: Instant, _ id: Int) {
            let index = index(deadline, id)
            if index < sleepers.count, sleepers[index].id == id { sleepers.remove(at: index) }
        }

        /// Removes and returns the sleepers whose deadline has been reached, the earliest first.
        mutating func takeDue() -> [Sleeper] {
            var due: [Sleeper] = []
            while let next = sleepers.last, next.deadline <= now { due.append(sleepers.removeLast()) }
            return due
        }
    }

    private let state = WaitableValue(State())

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
        let waiter = Waiter()
        let id = state.update { $0.makeID() }
        try await withTaskCancellationHandler {
            let observers = state.update { $0.add(Sleeper(deadline: deadline, id: id, waiter: waiter)) }
            for observer in observers { observer() }
            try await waiter.wait()
        } onCancel: {
            waiter.end(.failure(CancellationError()))
            state.update { $0.remove(deadline, id) }
        }
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
        for sleeper in woken { sleeper.waiter.end() }
    }

    /// The time to the earliest deadline of a sleeper, `nil` if no task is sleeping.
    var timeToNextSleeper: Duration? {
        state.read { state in state.sleepers.last.map { state.now.duration(to: $0.deadline) } }
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
    public func advanceIfAnyoneSleeps() -> Bool { wakeNext() != nil }

    /// Advances the clock to the earliest deadline and wakes its sleepers.
    ///
    /// - Returns: the time by which the clock was advanced; `nil` if no task was sleeping.
    private func wakeNext() -> Duration? {
        let (distance, woken): (Duration?, [Sleeper]) = state.update { state in
            guard let earliest = state.sleepers.last?.deadline else { return (nil, []) }
            let distance = state.now.duration(to: earliest)
            state.now = earliest
            return (distance, state.takeDue())
        }
        for sleeper in woken { sleeper.waiter.end() }
        return distance
    }

    /// Waits until a task is sleeping, then advances the clock to the earliest deadline.
    ///
    /// - Returns: the time by which the clock was advanced.
    /// - Throws: ``WaitTimeout`` after two minutes of real time; `CancellationError` as soon as the task is cancelled.
    @discardableResult
    public func advanceToNextSleeper() async throws -> Duration {
        while true {
            try await waitForSleepers()
            // In one step: a sleeper may be cancelled meanwhile.
            if let distance = wakeNext() { return distance }
        }
    }
}

extension Array {
    /// Returns the index of the first element for which a condition does not hold.
    ///
    /// The condition must hold for all elements before it, and for none after it.
    func partitionIndex(where isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
