import Foundation
import Logging
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("LoggingPlugin, texts of events", .tags(.concurrent), .watched)
struct LoggingPluginEventTextTests {
    private let clock = ManualClock()
    private let lines = LogLines()

    private func provider(_ steps: [ScriptedTransport.Step], _ plugins: any PluginType...) -> Provider<Ask> {
        Provider(transport: ScriptedTransport(steps), plugins: plugins, configuration: .init(clock: clock))
    }

    @Test("The description of an event is the line that is written without a formatter")
    func sameText() async {
        let other = LogLines()
        for plugin in [
            LoggingPlugin(level: .trace, handler: lines.handler),
            LoggingPlugin(level: .trace, handler: other.handler, formatter: { $0.description }),
        ] {
            _ = try? await provider([.status(404, body: "hello")], plugin).request(Ask())
        }
        #expect(lines.all == other.all)
        #expect(lines.all.count == 6)
    }
}
