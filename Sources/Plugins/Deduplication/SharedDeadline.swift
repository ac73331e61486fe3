import Pipeline
import Synchronization

/// Until when a shared exchange is of use: the latest deadline of the calls that share it.
final class SharedDeadline: Sendable {
    /// How much time the exchange has in which code runs.
    enum Scope: Sendable {
        /// A call without a deadline waits for it.
        case unlimited
        case limited(SharedDeadline)
    }

    private let moment: Mutex<PipelineClock.Instant?>

    init(_ moment: PipelineClock.Instant) { self.moment = Mutex(moment) }

    /// The latest deadline; `nil` if one of the calls has none.
    var latest: PipelineClock.Instant? { moment.withLock { $0 } }

    /// Notes that another call waits for the exchange.
    func extend(to deadline: PipelineClock.Instant?) {
        moment.withLock { moment in
            guard let known = moment else { return }
            moment = deadline.map { max(known, $0) }
        }
    }
}
