import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("LoggingPlugin: findings", .watched)
struct LoggingFindingsTests {
    @Test("A2: a stack with a log writes its findings there, unless the log is off", arguments: [true, false])
    func findings(isOn: Bool) {
        let lines = Mutex<[String]>([])
        let log = LoggingPlugin(level: isOn ? .error : .off, handler: { _, line in lines.withLock { $0.append(line) } })
        let token = AccessTokenPlugin { _ in "token" }
        let plugins: [any PluginType] = [log, DeduplicationPlugin(), token]
        // What the log does not write goes to standard error.
        _ = Provider<Ask>(transport: ScriptedTransport([]), plugins: plugins)
        let line = "Provider<Ask>: leak sharing-outside-credential: DeduplicationPlugin (2) is outside "
        #expect(lines.withLock { $0.map { String($0.prefix(line.count)) } } == (isOn ? [line] : []))
        #expect(lines.withLock { $0.allSatisfy { $0.hasSuffix("; see Documentation/Findings.md of Pipeline") } })
    }
}
