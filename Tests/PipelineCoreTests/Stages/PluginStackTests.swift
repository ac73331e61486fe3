import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("PluginStack", .watched)
struct PluginStackTests {
    static func layer(_ name: String) -> any PluginType {
        .prepare(name: name) { _, _ in }
    }

    static func names(_ stack: PluginStack) -> [String] { stack.plugins.map(\.name) }

    @Test("A plugin made from a closure can be used in a result builder")
    func closures() {
        let stack = PluginStack {
            PluginStack.prepare(name: "prepared") { _, _ in }
            PluginStack.intercept(name: "intercepted") { request, _, next in try await next(request) }
        }
        #expect(Self.names(stack) == ["prepared", "intercepted"])
    }

    @Test("A provider runs the plugins of a stack in order")
    func provider() async throws {
        let journal = Journal()
        let stack = PluginStack {
            for name in ["a", "b"] {
                PluginStack.prepare(name: name) { _, _ in journal.add(name) }
            }
        }
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: .status(200)), plugins: [stack])
        _ = try await provider.request(TestTarget())
        #expect(journal.entries == ["a", "b"])
        #expect(provider.plugins.map { $0.name } == ["a", "b"])
    }

    @Test("An array of plugins may contain stacks, whose plugins run in place and are listed by explain()")
    func literal() async throws {
        let journal = Journal()
        let transport = ScriptedTransport(always: .status(200))
        let inner = PluginStack {
            for name in ["b", "c"] {
                PluginStack.prepare(name: name) { _, _ in journal.add(name) }
            }
        }
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [
                .prepare(name: "a") { _, _ in journal.add("a") },
                inner,
                PluginStack(),
                .prepare(name: "d") { _, _ in journal.add("d") },
            ]
        )
        _ = try await provider.request(TestTarget())
        #expect(journal.entries == ["a", "b", "c", "d"])
        #expect(provider.explain().entries.map(\.name) == ["a", "b", "c", "d"])
        #expect(provider.explain().entries.map(\.position) == [1, 2, 3, 4])
    }
}
