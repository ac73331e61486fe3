import Dispatch
import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("RequestOptions", .tags(.concurrent), .watched)
struct RequestOptionsTests {
    private enum Depth: RequestOptions.Key { static let defaultValue = 1 }
    private enum Other: RequestOptions.Key { static let defaultValue = "none" }

    @Test("Options of a call override those of its target, key by key, also through a MultiTarget")
    func options() async throws {
        let seen = Journal()
        let plugins: [any PluginType] = [
            .prepare { _, context in seen.add("\(context.options[Depth.self]) \(context.options[Other.self])") }
        ]
        let target = TestTarget(
            options: RequestOptions {
                $0[Depth.self] = 2
                $0[Other.self] = "target"
            }
        )
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<MultiTarget>(transport: transport, plugins: plugins)
        _ = try await provider.request(TestTarget())
        _ = try await provider.request(target)
        _ = try await provider.request(MultiTarget(target), options: .init { $0[Depth.self] = 3 })
        #expect(seen.entries == ["1 none", "2 target", "3 target"])
    }

    private enum Maximum: RequestOptions.Key { static let defaultValue: Int? = 3 }

    @Test("An option that may be nil has its default until it is set, also beside others")
    func optionalDefault() {
        #expect(RequestOptions()[Maximum.self] == 3)
        #expect(RequestOptions { $0[Depth.self] = 2 }[Maximum.self] == 3)
        #expect(RequestOptions { $0[Maximum.self] = nil }[Maximum.self] == nil)
    }

    @Test("The description lists the options set, and shows no value that could be a secret")
    func description() {
        #expect("\(RequestOptions())" == "no options")
        let options = RequestOptions {
            $0.attemptTimeout = .seconds(5)
            $0.idleTimeout = nil
            $0[Depth.self] = 3
            $0[Other.self] = "hunter2"
        }
        let text =
            "attemptTimeout: 5.0 seconds, depth: 3, idleTimeout: nil, other: String"
        #expect("\(options)" == text)
        var dumped = ""
        dump(options, to: &dumped)
        #expect(String(reflecting: options) == text && !dumped.contains("hunter2"))
    }
}
