import Pipeline
import Synchronization

/// Records how each call ended.
final class Outcomes: Stage.DidFinish {
    private let outcomes = Mutex<[Stage.Outcome]>([])

    var all: [Stage.Outcome] { outcomes.withLock { $0 } }
    var count: Int { all.count }

    /// The kind and code of each outcome, such as `failure dns`.
    var texts: [String] {
        all.map { [$0.kind.rawValue, $0.error?.code.rawValue].compactMap(\.self).joined(separator: " ") }
    }

    func didFinish(_ outcome: Stage.Outcome, context: PipelineContext) {
        outcomes.withLock { $0.append(outcome) }
    }
}
