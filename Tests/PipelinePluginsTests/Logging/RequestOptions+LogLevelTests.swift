import Foundation
import Logging
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("LoggingPlugin, the level of a call", .tags(.concurrent), .watched)
struct RequestOptionsLogLevelTests {
    private let clock = ManualClock()
    private let lines = LogLines()

    private func provider(_ steps: [ScriptedTransport.Step], _ plugins: any PluginType...) -> Provider<Ask> {
        Provider(transport: ScriptedTransport(steps), plugins: plugins, configuration: .init(clock: clock))
    }

    @Test(
        "A call can have its own level, above or below that of the plugin",
        arguments: [
            (LoggingPlugin.Level.off, LoggingPlugin.Level.trace, 5), (.trace, .off, 0), (.info, .debug, 4),
            (.debug, .info, 2), (.trace, .error, 0),
        ]
    )
    func levelOfCall(own: LoggingPlugin.Level, option: LoggingPlugin.Level, count: Int) async {
        let provider = provider([.status(200), .status(200)], LoggingPlugin(level: own, handler: lines.handler))
        _ = try? await provider.request(Ask(), options: .init { $0.logLevel = option })
        #expect(lines.all.count == count)
        _ = try? await provider.request(Ask(options: .init { $0.logLevel = option }))
        #expect(lines.all.count == count * 2)
    }

    @Test("A custom logger keeps its level, whatever the level of the call")
    func levelOfLogger() async {
        let plugin = LoggingPlugin(level: .error, logger: lines.logger(level: .info))
        _ = try? await provider([.status(200)], plugin).request(Ask(), options: .init { $0.logLevel = .trace })
        #expect(lines.all.map { $0.prefix(7) } == ["info #1", "info #1"])
    }

    @Test("The option defaults to nil, so that the level of the plugin applies")
    func noLevelOfCall() {
        #expect(RequestOptions().logLevel == nil)
        #expect(RequestOptions { $0.logLevel = .debug }.logLevel == .debug)
    }
}
