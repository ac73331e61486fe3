import Foundation
import Pipeline
import Synchronization

/// The clock of a recorded session, which advances only while an exchange is replayed or a task waits.
///
/// Between two exchanges it shows the start of the next one if that began soon after, or repeats a failed request. A
/// signature that is made before the request reaches the transport therefore has its recorded date.
final class ReplayClock: DatedClock {
    /// A moment, as the time since 1970.
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        func duration(to other: Instant) -> Duration { other.offset - offset }

        static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.offset < rhs.offset }
    }

    /// The start of an exchange.
    struct Start {
        var instant: Instant
        /// Whether the exchange repeats the failed one before it.
        var isRetry = false
    }

    /// The longest time between two exchanges that is attributed to the recording program, not to a wait.
    private static let overhead = Duration.seconds(1)

    private let starts: [Start]
    /// The end of the latest exchange or wait.
    private let reached: Mutex<Instant>

    /// - Parameter starts: the starts of the exchanges, in any order.
    init(_ starts: [Start]) {
        self.starts = starts.sorted { $0.instant < $1.instant }
        reached = Mutex(self.starts.first?.instant ?? Instant(Date()))
    }

    var origin: Instant { Instant(offset: .zero) }

    var minimumResolution: Duration { .zero }

    var now: Instant { reached.withLock { shown($0) } }

    var date: Date { Date(timeIntervalSince1970: now.offset / .seconds(1)) }

    /// Returns the start of the next exchange if it is near, else the moment itself.
    private func shown(_ moment: Instant) -> Instant {
        var (low, high) = (0, starts.count)
        while low < high {
            let middle = (low + high) / 2
            if starts[middle].instant < moment { low = middle + 1 } else { high = middle }
        }
        guard low < starts.count else { return moment }
        let next = starts[low]
        return next.isRetry || moment.duration(to: next.instant) < Self.overhead ? next.instant : moment
    }

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
