public import Foundation
public import PipelineCore
import Synchronization

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

    private struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct Watcher {
        let count: Int
        let waiter: Waiter
    }

    private struct State {
        var now = Instant(offset: .zero)
        var nextID = 0
        var sleepers: [Int: Sleeper] = [:]
        /// The deadlines of all sleepers.
        var deadlines = DeadlineHeap()
        var cancelled: Set<Int> = []
        var watchers: [Watcher] = []
        /// Called after a sleeper has been added, by the run that it belongs to.
        var sleepObservers: [Int: @Sendable () -> Void] = [:]

        mutating func add(_ sleeper: Sleeper, id: Int) {
            sleepers[id] = sleeper
            deadlines.insert(DeadlineHeap.Entry(deadline: sleeper.deadline, id: id))
            if deadlines.count > 2 * sleepers.count + 64 { deadlines.compact { sleepers[$0.id] != nil } }
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
        mutating func takeDue() -> [Sleeper] {
            var due: [Sleeper] = []
            while let deadline = earliestDeadline(), deadline <= now, let first = deadlines.first {
                deadlines.removeFirst()
                if let sleeper = sleepers.removeValue(forKey: first.id) { due.append(sleeper) }
            }
            return due
        }

        /// Removes and returns the watchers that wait for at most the current number of sleepers.
        mutating func takeSatisfiedWatchers() -> [Watcher] {
            let satisfied = watchers.filter { $0.count <= sleepers.count }
            watchers.removeAll { $0.count <= sleepers.count }
            return satisfied
        }
    }

    private let state = Mutex(State())

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
    public var now: Instant { state.withLock { $0.now } }

    /// The date at the origin plus the time by which the clock was advanced.
    public var date: Date { startDate.addingTimeInterval(now.offset / .seconds(1)) }

    /// Always zero, because the clock has no smallest step.
    public var minimumResolution: Duration { .zero }

    /// The number of tasks that are sleeping.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Waits until the clock reaches the deadline; throws `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        defer { _ = state.withLock { $0.cancelled.remove(id) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                add(Sleeper(deadline: deadline, continuation: continuation), id: id)
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(id)
                return state.sleepers.removeValue(forKey: id)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func add(_ sleeper: Sleeper, id: Int) {
        enum Outcome {
            case cancelled
            case elapsed
            case waiting([Watcher], [@Sendable () -> Void])
        }
        let outcome = state.withLock { state -> Outcome in
            if state.cancelled.contains(id) { return .cancelled }
            if sleeper.deadline <= state.now { return .elapsed }
            state.add(sleeper, id: id)
            return .waiting(state.takeSatisfiedWatchers(), Array(state.sleepObservers.values))
        }
        switch outcome {
        case .cancelled: sleeper.continuation.resume(throwing: CancellationError())
        case .elapsed: sleeper.continuation.resume()
        case .waiting(let watchers, let observers):
            for watcher in watchers { watcher.waiter.end() }
            for observer in observers { observer() }
        }
    }

    /// Calls a closure after each sleeper that is added, until the returned number is removed.
    func observeSleepers(_ observer: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.nextID += 1
            state.sleepObservers[state.nextID] = observer
            return state.nextID
        }
    }

    func removeObserver(_ id: Int) { state.withLock { _ = $0.sleepObservers.removeValue(forKey: id) } }

    /// Advances the clock and wakes the sleepers whose deadline it reaches, the earliest first.
    ///
    /// The duration must not be negative.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "time does not run backwards: \(duration)")
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            return state.takeDue()
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// The time to the earliest deadline of a sleeper, `nil` if no task is sleeping.
    var timeToNextSleeper: Duration? {
        state.withLock { state in state.earliestDeadline().map { state.now.duration(to: $0) } }
    }

    /// Waits until at least this many tasks are sleeping, one by default.
    ///
    /// - Throws: ``WaitTimeout`` after two minutes of real time; `CancellationError` as soon as the task is cancelled.
    public func waitForSleepers(_ count: Int = 1) async throws {
        try await waitForSleepers(count, waiter: Waiter())
    }

    func waitForSleepers(_ count: Int, waiter: Waiter) async throws {
        let isOver = state.withLock { state in
            guard state.sleepers.count < count else { return true }
            state.watchers.append(Watcher(count: count, waiter: waiter))
            return false
        }
        if isOver { return }
        defer { state.withLock { $0.watchers.removeAll { $0.waiter === waiter } } }
        try await waiter.wait { "a test waited in vain for \(count) sleepers; there are \(self.sleeperCount)" }
    }

    /// Advances the clock to the earliest deadline if any task is sleeping; does not wait for one.
    ///
    /// - Returns: whether a task was sleeping.
    @discardableResult
    public func advanceIfAnyoneSleeps() -> Bool {
        let woken: [Sleeper] = state.withLock { state in
            guard let earliest = state.earliestDeadline() else { return [] }
            state.now = max(state.now, earliest)
            return state.takeDue()
        }
        for sleeper in woken { sleeper.continuation.resume() }
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
