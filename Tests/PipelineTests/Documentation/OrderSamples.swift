import Foundation
import Pipeline
import PipelinePlugins
import PipelineTransports
import Testing

@Suite("The guide Order")
struct OrderGuideTests {
    private typealias Library = ReadmeProgram.Library

    private func showLogin() async {}

    private func explanation(_ transport: any Transport) -> String {
        func print(_ description: PipelineDescription) {}
        // sample: standard
        let provider = Provider<Library>(
            transport: transport,
            plugins: PluginStack {
                UnauthorizedPlugin { _, _ in await showLogin() }
                PluginStack.standard {
                    AccessTokenPlugin { _ in "2YotnFZFEjr1zCsicMWpAA" }
                }
            }
        )
        print(provider.explain())
        // end
        return "\(provider.explain())"
    }

    @Test("It shows what explain() prints, for a transport that leaves content codings alone")
    func table() throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/Pipeline/Pipeline.docc/Order.md")
        let guide = Markdown(try String(contentsOf: page, encoding: .utf8))
        let text = explanation(StubTransport())
        #expect(guide.blocks(in: "text").contains(text), "\(text)")
    }
}
