import Foundation
import Logging
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("LoggingPlugin, events", .tags(.concurrent), .watched)
struct LoggingPluginEventTests {
    private let clock = ManualClock()
    private let lines = LogLines()

    private func provider(_ steps: [ScriptedTransport.Step], _ plugins: any PluginType...) -> Provider<Ask> {
        Provider(transport: ScriptedTransport(steps), plugins: plugins, configuration: .init(clock: clock))
    }

    /// A step that advances the clock by a duration.
    private func taking(_ duration: Duration, _ step: ScriptedTransport.Step) -> ScriptedTransport.Step {
        .answer { [clock] request, context in
            clock.advance(by: duration)
            return try await ScriptedTransport([step]).send(request, context: context)
        }
    }

    @Test("M168 M174 A formatter turns each event into a line, or omits the line by returning nil")
    func formatter() async {
        let plugin = LoggingPlugin(
            level: .trace,
            handler: lines.handler,
            formatter: { event in
                switch event.kind {
                case .requestFields, .responseBody: nil
                case .responseFields: "\(event.level) \(event.fields.map { "\($0.name)=\($0.value)" })"
                case .requestBody: "\(event.body ?? "-")|\(event.byteCount ?? -1)"
                case .response: "\(event.statusCode ?? 0) \(event.duration ?? .zero) \(event.byteCount ?? -1)"
                default: "\(event.kind) \(event.callID).\(event.attempt).\(event.hop) \(event.method) \(event.url)"
                }
            }
        )
        let step = taking(.milliseconds(5), .status(500, headers: [.server: "x", .setCookie: "canary"], body: "hello"))
        let task = RequestTask.requestParameters(parameters: ["pin": 1], encoding: JSONEncoding.default)
        _ = try? await provider([step], plugin).request(Ask(url: "https://a.test?q=canary", method: .put, task: task))
        #expect(
            lines.all == [
                "info request 1.1.0 PUT https://a.test/b?q=…", "info 500 0.005 seconds 5",
                #"debug debug ["Server=x", "Set-Cookie=…"]"#, #"trace {"pin":"…"}|9"#,
                "error failure 1.1.0 PUT https://a.test/b?q=…",
            ]
        )
    }

    @Test("M173 The event of a failure has its code, reason, plugin, stage, exchange count and duration")
    func failureEvent() async {
        let plugin = LoggingPlugin(
            level: .error,
            handler: lines.handler,
            formatter: { event in
                let stage = event.stage.map { "\($0)" } ?? "-"
                return "\(event.code?.rawValue ?? "-")|\(event.reason ?? "-")|\(event.plugin ?? "-")|\(stage)|"
                    + "\(event.exchangeCount)|\(event.duration ?? .seconds(-1))|\(event.statusCode ?? 0)"
            }
        )
        let failing = PluginStack.prepare(name: "my\nplugin") { _, _ in throw PipelineError(.offline, "no\nnet") }
        _ = try? await provider([], plugin, failing).request(Ask())
        _ = try? await provider([taking(.seconds(2), .status(500))], plugin).request(Ask())
        #expect(
            lines.all == [
                "error offline|no net|my plugin|prepare|0|0.0 seconds|0", "error -|-|-|-|1|2.0 seconds|500",
            ]
        )
    }

    @Test("A part that does not apply to an event's kind is nil or empty")
    func absentParts() async {
        let plugin = LoggingPlugin(
            level: .trace,
            handler: lines.handler,
            formatter: { event in
                let parts = [event.fields.isEmpty ? nil : "fields", event.body.map { _ in "body" }]
                let curl = event.curlCommand.map { _ in "curl" }
                return "\(event.kind): \((parts + [curl]).compactMap { $0 })"
            }
        )
        let target = Ask(method: .put, task: .requestData(Data("x".utf8)), headers: ["Accept": "*/*"])
        _ = try? await provider([.status(500, headers: [.server: "x"])], plugin).request(target)
        #expect(
            lines.all.map { $0.drop { $0 != " " }.dropFirst() } == [
                #"request: ["curl"]"#, #"requestFields: ["fields"]"#, "response: []", #"responseFields: ["fields"]"#,
                #"requestBody: ["body"]"#, #"responseBody: ["body"]"#, "failure: []",
            ]
        )
    }
}
