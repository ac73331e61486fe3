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

    /// The end of the latest exchange or wait.
    private let reached: Mutex<Instant>

    init(startingAt start: Instant?) { reached = Mutex(start ?? Instant(Date())) }

    var origin: Instant { Instant(offset: .zero) }

    var minimumResolution: Duration { .zero }

    var now: Instant { reached.withLock { $0 } }

    var date: Date { Date(timeIntervalSince1970: now.offset / .seconds(1)) }

    /// Sets the clock to the start of an exchange, unless it shows a later time; returns the resulting time.
    func begin(at start: Instant?) -> Instant {
        reached.withLock { reached in
            reached = max(reached, start ?? reached)
            return reached
        }
    }

    /// Sets the clock to a moment, unless it shows a later one.
    func advance(to moment: Instant) { reached.withLock { $0 = max($0, moment) } }

    func advance(by duration: Duration) { reached.withLock { $0 = $0.advanced(by: duration) } }

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
