import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("PluginStack: inserting and removing", .watched)
struct PluginStackChangingTests {
    private struct A: Stage.WillSend {
        var name = "A"
        func willSend(_ request: PipelineRequest, context: PipelineContext) {}
    }

    private struct B: Stage.WillSend {
        func willSend(_ request: PipelineRequest, context: PipelineContext) {}
    }

    private struct C: Stage.WillSend {
        func willSend(_ request: PipelineRequest, context: PipelineContext) {}
    }

    private let stack = PluginStack([A(name: "A1"), B(), A(name: "A2")])

    @Test("A plugin is inserted before the outermost or after the innermost plugin of a type")
    func inserting() {
        #expect(PluginStackTests.names(stack.inserting(C(), before: B.self)) == ["A1", "C", "B", "A2"])
        #expect(PluginStackTests.names(stack.inserting(C(), after: B.self)) == ["A1", "B", "C", "A2"])
        #expect(PluginStackTests.names(stack.inserting(C(), before: A.self)) == ["C", "A1", "B", "A2"])
        #expect(PluginStackTests.names(stack.inserting(C(), after: A.self)) == ["A1", "B", "A2", "C"])
    }

    @Test("An inserted stack is flattened into its plugins")
    func insertingStack() {
        let inserted = stack.inserting(PluginStack([C(), C()]), before: B.self)
        #expect(PluginStackTests.names(inserted) == ["A1", "C", "C", "B", "A2"])
    }

    @Test("All plugins of a type are removed; a type that is not in the stack changes nothing")
    func removing() {
        #expect(PluginStackTests.names(stack.removing(A.self)) == ["B"])
        #expect(PluginStackTests.names(stack.removing(C.self)) == ["A1", "B", "A2"])
    }

    @Test("Inserting next to a plugin that is not in the stack traps with both names and the stack")
    func missingAnchor() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = PluginStack([A(name: "A1"), A(name: "A2")]).inserting(C(), before: B.self)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("C cannot be inserted before B, because the stack has none: it has A1, A2"))
    }
}
