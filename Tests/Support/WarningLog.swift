public import Pipeline
import Synchronization

/// A plugin that keeps the warnings of the other plugins.
public final class WarningLog: Stage.WillSend, WarningReporting {
    private let warnings = Mutex<[String]>([])

    /// Creates a plugin without warnings.
    public init() {}

    /// The warnings so far.
    public var all: [String] { warnings.withLock { $0 } }

    /// The log to which plugins write.
    public var log: PipelineContext.OperatorLog { PipelineContext.OperatorLog([self]) }

    /// Takes part in a stage, which every plugin has to.
    public func willSend(_ request: PipelineRequest, context: PipelineContext) {}

    /// Keeps the text for ``all``, so that it is written nowhere else.
    public func report(warning: String) -> Bool {
        warnings.withLock { $0.append(warning) }
        return true
    }
}
