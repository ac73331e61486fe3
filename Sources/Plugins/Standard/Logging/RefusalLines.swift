import PipelineCore
import Synchronization

/// When calls that a plugin refused had a line, so that an overloaded client does not write one for each.
final class RefusalLines: Sendable {
    /// How long a line speaks for the refusals after it.
    static let interval: Duration = .seconds(10)
    /// The most hosts and codes that are remembered.
    static let maximumCount = 100

    private struct Key: Hashable {
        let host: String?
        let code: PipelineError.Code
    }

    private let latest = Mutex<[Key: PipelineClock.Instant]>([:])

    /// Returns whether a refusal is the first for its host and code for a while.
    func isFirst(_ error: PipelineError, _ context: PipelineContext) -> Bool {
        let key = Key(host: error.request?.host, code: error.code)
        let now = context.clock.now
        return latest.withLock { latest in
            if let last = latest[key], last.duration(to: now) < Self.interval { return false }
            if latest[key] == nil, latest.count >= Self.maximumCount,
                let oldest = latest.min(by: { $0.value < $1.value })
            {
                latest[oldest.key] = nil
            }
            latest[key] = now
            return true
        }
    }
}
