import Logging
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("LoggingPlugin, levels of loggers", .watched)
struct LoggingPluginLevelTests {
    @Test(
        "A logger gets only the lines that its own level allows, and no others are formatted",
        arguments: [
            (Logger.Level.trace, 5), (.debug, 5), (.info, 3), (.notice, 1), (.warning, 1), (.error, 1), (.critical, 0),
        ]
    )
    func levels(level: Logger.Level, count: Int) async {
        let lines = LogLines()
        let made = LogLines()
        let plugin = LoggingPlugin(
            level: .debug,
            logger: lines.logger(level: level),
            formatter: {
                made.add($0.level.description, $0.kind.description)
                return $0.description
            }
        )
        let provider = Provider<Ask>(transport: ScriptedTransport([.status(500)]), plugins: [plugin])
        _ = try? await provider.request(Ask())
        #expect(lines.all.count == count)
        #expect(made.all.count == count)
    }
}
