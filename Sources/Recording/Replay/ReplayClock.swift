import Foundation
import Pipeline
import Synchronization

/// The clock of a recorded session, which advances only while an exchange is replayed or a task waits.
final class ReplayClock: DatedClock {
    /// A moment, as the time since 1970.
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        func duration(to other: Instant) -> Duration { other.offset - offset }

        static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.offset < rhs.offset }
    }

    private struct State {
        /// The end of the latest exchange or wait.
        var reached: Instant
        /// The recorded pauses, which change only the date, so that they end no call with a timeout.
        var pauses = Duration.zero

        var date: Instant { reached.advanced(by: pauses) }
    }

    private let state: Mutex<State>

    init(startingAt start: Instant?) { state = Mutex(State(reached: start ?? Instant(Date()))) }

    var origin: Instant { Instant(offset: .zero) }

    var minimumResolution: Duration { .zero }

    var now: Instant { state.withLock { $0.reached } }

    var date: Date { Date(timeIntervalSince1970: state.withLock { $0.date }.offset / .seconds(1)) }

    /// Sets the date to the start of an exchange, unless it is later; returns the time.
    func begin(at start: Instant?) -> Instant {
        state.withLock { state in
            if let start { state.pauses += max(state.date.duration(to: start), .zero) }
            return state.reached
        }
    }

    /// Sets the time to a moment, unless it is later.
    func advance(to moment: Instant) { state.withLock { $0.reached = max($0.reached, moment) } }

    func advance(by duration: Duration) { state.withLock { $0.reached = $0.reached.advanced(by: duration) } }

    /// Waits in real time, so that a timeout does not end work that is in progress.
    func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let rest = now.duration(to: deadline)
        if rest > .zero {
            try await ContinuousClock().sleep(for: rest, tolerance: tolerance)
        } else {
            try Task.checkCancellation()
        }
        advance(to: deadline)
    }
}

extension ReplayClock.Instant {
    /// Rounds to the microsecond, because dates have no exact decimals.
    init(_ date: Date) {
        let limit = 253_402_300_800.0
        let seconds = min(max(date.timeIntervalSince1970, -limit), limit)
        offset = .microseconds(Int64((seconds * 1_000_000).rounded()))
    }
}
