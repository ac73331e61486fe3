import PipelineCore
import Synchronization

/// The missing credential because of which calls fail, whose outcome they share, so that a plugin outside reports it
/// once.
final class SessionEndReport: Sendable {
    private let made = Mutex<SharedOutcome?>(nil)

    /// Returns the same outcome to all calls.
    ///
    /// - Parameter now: the current time, which becomes the end of the outcome if the call is the first.
    /// - Returns: the outcome, which the first call makes.
    func outcome(at now: PipelineClock.Instant) -> SharedOutcome {
        made.withLock { made in
            let outcome = made ?? SharedOutcome(endedAt: now)
            made = outcome
            return outcome
        }
    }
}
