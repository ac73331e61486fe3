import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

// sample: signer
struct SignerPlugin: Stage.Prepare, Stage.Exchange, CapabilityDeclaring {
    let server: PipelineRequest.Origin
    let account: String
    let sign: @Sendable (PipelineRequest) -> String
    let capabilities: Set<PluginCapability> = [.signs, .identifiesCalls, .limitsHosts]

    func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        context.addIdentity(account, of: .authorization)
    }

    func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        guard context.hopOrigin == server, !context.hasLeftOrigin else { return try await send(request) }
        var signed = request
        try signed.setHeader(sign(request), for: .authorization, isSecret: true)
        return try await send(signed)
    }
}
// end

@Suite("The guide Order", .watched)
struct OrderGuideTests {
    private typealias Library = ReadmeProgram.Library

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

    private func texts(of guide: String) throws -> [String] {
        let page = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Documentation/\(guide).md")
        return Markdown(try String(contentsOf: page, encoding: .utf8)).blocks(in: "text")
    }

    @Test("The guide shows the output of explain() for a transport that does not decode content")
    func table() throws {
        let text = explanation(StubTransport())
        #expect(try texts(of: "Order").contains(text), "\(text)")
    }

    /// A plugin that has all stages, and notes each when it runs.
    private struct AllStages: Stage.Prepare, Stage.Intercept, Stage.Exchange, Stage.WillSend, Stage.DidReceive,
        Stage.Process, Stage.DidFinish
    {
        let letter: String
        let output: Output

        private func note(_ stage: String) { output.add("\(letter).\(stage) ") }

        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws { note("prepare") }

        func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Stage.Next
        ) async throws -> PipelineResponse {
            note("intercept")
            return try await next(request)
        }

        func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse {
            note("exchange")
            return try await send(request)
        }

        func willSend(_ request: PipelineRequest, context: PipelineContext) { note("willSend") }

        func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
            note("didReceive")
        }

        func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
            note("process")
        }

        func didFinish(_ outcome: Stage.Outcome, context: PipelineContext) { note("didFinish") }
    }

    @Test("The stages of two plugins run in the order of the diagram in the guide OwnPlugins")
    func stages() async throws {
        let output = Output()
        let plugins = ["A", "B"].map { AllStages(letter: $0, output: output) }
        _ = try await Provider<Library>(transport: StubTransport(), plugins: plugins).request(.book(id: 3))
        let diagram = try #require(texts(of: "OwnPlugins").first { $0.contains("A.prepare") })
        #expect(diagram.matches(of: /[AB]\.\w+/).map { String($0.output) + " " }.joined() == output.text)
    }

    private func signer() throws -> SignerPlugin {
        let server = try PipelineRequest(url: "https://library.example").origin
        return SignerPlugin(server: server, account: "ann") { "\($0.method) \($0.head.path ?? "")" }
    }

    @Test("The guide OwnPlugins shows the finding for a signer without an identity; with one, there is none")
    func finding() throws {
        let signer = PluginStack.exchange(name: "SignerPlugin", capabilities: [.signs]) { request, _, send in
            try await send(request)
        }
        let anonymous = Provider<Library>(transport: StubTransport(), plugins: [.standard { signer }])
        let lines = "\(anonymous.explain())".split(separator: "\n").drop { !$0.hasPrefix("leak") }
        let text = lines.prefix(3).joined(separator: "\n")
        #expect(try texts(of: "OwnPlugins").contains(text), "\(text)")
        let signing = try self.signer()
        let identified = Provider<Library>(transport: StubTransport(), plugins: [.standard { signing }])
        #expect(identified.explain().findings.isEmpty)
    }

    @Test("The signer signs each request to its server, and none after a redirect to another server")
    func signing() async throws {
        let transport = ScriptedTransport([
            .status(307, headers: [.location: "/v2"]), .status(307, headers: [.location: "https://b.test/"]),
            .status(307, headers: [.location: "https://library.example/v3"]), .status(200),
        ])
        let provider = Provider<URLTarget>(transport: transport, plugins: [try signer()])
        let body = RequestTask.requestData(Data("hello".utf8))
        _ = try await provider.request(URLTarget("https://library.example/v1", method: .put, task: body))
        #expect(transport.sent.map { $0.headers[.authorization] } == ["PUT /v1", "PUT /v2", nil, nil])
    }
}
