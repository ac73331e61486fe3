import Foundation
import PipelineCore
import Synchronization

/// The clock of a recorded session, which advances only while an exchange is replayed or a task waits.
final class ReplayClock: PipelineClock.DatedClock {
    /// A moment, as the time since 1970.
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        func duration(to other: Instant) -> Duration { other.offset - offset }

        static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.offset < rhs.offset }
    }

    /// The time, and the date, which recorded pauses advance alone, so that they end no call with a timeout.
    struct State {
        /// The end of the latest exchange or wait.
        var now: Instant
        var date: Instant

        mutating func advance(to other: State) {
            now = max(now, other.now)
            date = max(date, other.date)
        }

        func advanced(by duration: Duration) -> State {
            State(now: now.advanced(by: duration), date: date.advanced(by: duration))
        }
    }

    private let state: Mutex<State>

    init(startingAt start: Instant?) {
        let start = start ?? Instant(Date())
        state = Mutex(State(now: start, date: start))
    }

    var origin: Instant { Instant(offset: .zero) }

    var minimumResolution: Duration { .zero }

    var now: Instant { state.withLock { $0.now } }

    var date: Date {
        let (seconds, attoseconds) = state.withLock { $0.date }.offset.components
        return Date(timeIntervalSince1970: Double(seconds) + Double(attoseconds) / 1e18)
    }

    /// Sets the date to the start of an exchange, unless it is later; returns the time and the date.
    func begin(at start: Instant?) -> State {
        state.withLock { state in
            state.date = max(state.date, start ?? state.date)
            return state
        }
    }

    /// Sets the time and the date, unless they are later.
    func advance(to end: State) { state.withLock { $0.advance(to: end) } }

    func advance(by duration: Duration) { state.withLock { $0 = $0.advanced(by: duration) } }

    /// Waits in real time, so that a timeout does not end work that is in progress.
    func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let rest = now.duration(to: deadline)
        if rest > .zero {
            try await ContinuousClock().sleep(for: rest, tolerance: tolerance)
        } else {
            try Task.checkCancellation()
        }
        state.withLock { $0 = $0.advanced(by: max($0.now.duration(to: deadline), .zero)) }
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
