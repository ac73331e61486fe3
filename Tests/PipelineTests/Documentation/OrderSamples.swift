import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineTransports
import Testing

@Suite("The guide Order")
struct OrderGuideTests {
    private typealias Library = ReadmeProgram.Library

    // sample: signer
    struct RequestSigner: Stage.Prepare, CapabilityDeclaring {
        let capabilities: Set<PluginCapability> = [.signs]

        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
            try request.setHeader("…", for: .authorization, isSecret: true)
        }
    }
    // end

    private func showLogin() async {}

    private func explanation(_ transport: any Transport) -> String {
        func print(_ description: PipelineDescription) {}
        // sample: standard
        let provider = Provider<Library>(
            transport: transport,
            plugins: [
                UnauthorizedPlugin { _, _ in await showLogin() },
                .standard {
                    AccessTokenPlugin { _ in "2YotnFZFEjr1zCsicMWpAA" }
                },
            ]
        )
        print(provider.explain())
        // end
        return "\(provider.explain())"
    }

    private func texts() throws -> [String] {
        let page = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/Pipeline/Pipeline.docc/Order.md")
        return Markdown(try String(contentsOf: page, encoding: .utf8)).blocks(in: "text")
    }

    @Test("It shows what explain() prints, for a transport that leaves content codings alone")
    func table() throws {
        let text = explanation(StubTransport())
        #expect(try texts().contains(text), "\(text)")
    }

    @Test("It shows the finding about a plugin of one's own")
    func finding() throws {
        let provider = Provider<Library>(transport: StubTransport(), plugins: [RequestSigner(), RetryPlugin()])
        let text = "\(provider.explain())".split(separator: "\n").filter { $0.hasPrefix("finding") }
        #expect(try texts().contains(text.joined()), "\(text)")
    }
}
