import Pipeline
import TestSupport
import Testing

@Suite("PluginStack.Builder", .watched)
struct PluginStackBuilderTests {
    @Test(
        "A stack lists its plugins outermost first, including those from if, else, switch and for",
        arguments: [true, false]
    )
    func choices(isChosen: Bool) {
        let stack = PluginStack {
            PluginStackTests.layer("a")
            if isChosen { PluginStackTests.layer("if") }
            if isChosen { PluginStackTests.layer("first") } else { PluginStackTests.layer("second") }
            switch isChosen {
            case true: PluginStackTests.layer("true")
            case false: PluginStackTests.layer("false")
            }
            for number in 1...2 { PluginStackTests.layer("for \(number)") }
        }
        let expected =
            isChosen
            ? ["a", "if", "first", "true", "for 1", "for 2"] : ["a", "second", "false", "for 1", "for 2"]
        #expect(PluginStackTests.names(stack) == expected)
    }

    @Test("A stack is flattened into its plugins in a builder, an array and an array literal")
    func nesting() {
        let inner = PluginStack { PluginStackTests.layer("b") }
        let stack = PluginStack {
            PluginStackTests.layer("a")
            inner
            PluginStack([PluginStackTests.layer("c"), inner])
        }
        #expect(PluginStackTests.names(stack) == ["a", "b", "c", "b"])
        #expect(PluginStackTests.names([stack, PluginStackTests.layer("d")]) == ["a", "b", "c", "b", "d"])
        #expect(stack.name == "a, b, c, b")
        #expect(stack.plugins.allSatisfy { !($0 is PluginStack) })
        #expect(PluginStackTests.names(PluginStack()) == [])
    }
}
