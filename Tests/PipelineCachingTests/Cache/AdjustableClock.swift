import Foundation
import Pipeline
import PipelineTesting
import Synchronization

/// A manual clock whose date can be set, also back, while its time does not change.
final class AdjustableClock: PipelineClock.DatedClock {
    private let clock = ManualClock()
    private let offset = Mutex(0.0)

    var now: ManualClock.Instant { clock.now }
    var origin: ManualClock.Instant { clock.origin }
    var minimumResolution: Duration { .zero }
    var date: Date { clock.date + offset.withLock { $0 } }

    func advance(by duration: Duration) { clock.advance(by: duration) }

    /// Sets the date forward by a number of seconds, or back if it is negative.
    func setDate(by seconds: Double) { offset.withLock { $0 += seconds } }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        try await clock.sleep(until: deadline, tolerance: tolerance)
    }
}
