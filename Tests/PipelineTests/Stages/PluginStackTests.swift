import Pipeline
import PipelineTesting
import Testing

@Suite("PluginStack")
struct PluginStackTests {
    private func layer(_ name: String) -> any PluginType {
        .prepare(name: name) { _, _ in }
    }

    private func names(_ stack: PluginStack) -> [String] { stack.plugins.map(\.name) }

    @Test(
        "A stack lists its plugins outermost first, with what if, else, switch and for choose",
        arguments: [true, false]
    )
    func choices(isChosen: Bool) {
        let stack = PluginStack {
            layer("a")
            if isChosen { layer("if") }
            if isChosen { layer("first") } else { layer("second") }
            switch isChosen {
            case true: layer("true")
            case false: layer("false")
            }
            for number in 1...2 { layer("for \(number)") }
        }
        let expected =
            isChosen
            ? ["a", "if", "first", "true", "for 1", "for 2"] : ["a", "second", "false", "for 1", "for 2"]
        #expect(names(stack) == expected)
    }

    @Test("A stack in a stack, and an array in one, stand for their plugins")
    func nesting() {
        let inner = PluginStack { layer("b") }
        let stack = PluginStack {
            layer("a")
            inner
            [layer("c"), layer("d")]
        }
        #expect(names(stack) == ["a", "b", "c", "d"])
        #expect(names(PluginStack()) == [])
    }

    @Test("A plugin from a closure stands in a builder as it does in an array")
    func closures() {
        let stack = PluginStack {
            PreparePlugin.prepare(name: "prepared") { _, _ in }
            InterceptPlugin.intercept(name: "intercepted") { request, _, next in try await next(request) }
        }
        #expect(names(stack) == ["prepared", "intercepted"])
    }

    @Test("A provider of a stack runs its plugins in order")
    func provider() async throws {
        let journal = Journal()
        let stack = PluginStack {
            for name in ["a", "b"] {
                PreparePlugin.prepare(name: name) { _, _ in journal.add(name) }
            }
        }
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: .status(200)), plugins: stack)
        _ = try await provider.request(TestTarget())
        #expect(journal.entries == ["a", "b"])
        #expect(provider.plugins.map { $0.name } == ["a", "b"])
    }
}
