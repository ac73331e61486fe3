import PipelineCore
import Synchronization

/// Logs that a store fails: the first failure, and then at most one an hour.
struct StoreWarnings: ~Copyable, Sendable {
    /// How long no further failure is logged after one.
    private static let pause = Duration.seconds(3_600)

    private let summary: String
    /// When the next failure is logged; `nil` for at once.
    private let next = Mutex<PipelineClock.Instant?>(nil)

    /// Makes warnings that begin with what fails and what follows from it.
    init(_ summary: String) { self.summary = summary }

    /// Logs a failure unless one was logged shortly before.
    func log(_ error: any Error, at now: PipelineClock.Instant, to log: PipelineContext.OperatorLog) {
        let isDue = next.withLock { next in
            guard now >= next ?? now else { return false }
            next = now.advanced(by: Self.pause)
            return true
        }
        if isDue { log.warning(text(of: error)) }
    }

    /// Returns a text without secrets.
    func text(of error: any Error) -> String {
        "\(summary): \((error as? any SafelyDescribed)?.description ?? "\(type(of: error))")"
    }
}
