import Logging
import PipelinePlugins
import Synchronization

/// The lines that a handler received.
final class LogLines: Sendable {
    private struct Line {
        let level: String
        let text: String
        let metadata: Logger.Metadata
    }

    private let state = Mutex<[Line]>([])

    var all: [String] { state.withLock { $0.map { "\($0.level) \($0.text)" } } }
    var text: String { all.joined(separator: "\n") }
    var metadata: [Logger.Metadata] { state.withLock { $0.map(\.metadata) } }

    func add(_ level: String, _ text: String, _ metadata: Logger.Metadata = [:]) {
        state.withLock { $0.append(Line(level: level, text: text, metadata: metadata)) }
    }

    var handler: @Sendable (LoggingPlugin.Level, String) -> Void {
        { self.add($0.description, $1) }
    }

    func logger(level: Logger.Level) -> Logger {
        Logger(label: "test") { _ in LineHandler(lines: self, logLevel: level) }
    }
}

private struct LineHandler: LogHandler {
    let lines: LogLines
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.add(event.level.rawValue, event.message.description, event.metadata ?? [:])
    }
}
