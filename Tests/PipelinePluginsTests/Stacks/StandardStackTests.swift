import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineTesting
import Testing

@Suite("PluginStack.standard")
struct StandardStackTests {
    @Test("It shows exactly what runs per call and what per exchange, and nothing is wrong with its order")
    func explanation() {
        let stack = PluginStack.standard { AccessTokenPlugin { _ in "token" } }
        let provider = Provider<Ask>(transport: ScriptedTransport(always: .status(200)), plugins: stack)
        #expect("\(provider.explain())" == "")
    }

    @Test("It is a stack like any other: it goes into another, and takes plugins of one's own")
    func nesting() {
        let stack = PluginStack {
            PreparePlugin.prepare(name: "own") { _, _ in }
            PluginStack.standard
        }
        #expect(stack.plugins.count == PluginStack.standard.plugins.count + 1)
        #expect(stack.plugins.map(\.name).contains("AccessTokenPlugin") == false)
    }

    @Test("A call through it retries, decodes, and is answered")
    func call() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(503), .status(200, body: "ok")])
        let provider = Provider<Ask>(transport: transport, plugins: PluginStack.standard, clock: clock)
        async let response = provider.request(Ask())
        await clock.advanceToNextSleeper()
        #expect(try await response.mapString() == "ok")
        #expect(transport.sent.map { $0.headers[.acceptEncoding] != nil } == [true, true])
        #expect(Set(transport.sent.map { $0.headers[.init("X-Request-Id") ?? .accept] }).count == 1)
    }
}
