import Foundation
import Pipeline
import PipelineSigning
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("The guide Order", .watched)
struct OrderGuideTests {
    private typealias Library = ReadmeProgram.Library

    // sample: signer
    struct RequestSigner: Stage.Prepare, Stage.Exchange, CapabilityDeclaring {
        let capabilities: Set<PluginCapability> = [.signs, .identifiesCalls]
        let account: String
        let server: PipelineRequest.Origin
        let sign: @Sendable (_ request: PipelineRequest, _ body: Data) throws -> String

        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
            context.addIdentity("RequestSigner \(account)", of: .authorization)
        }

        func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse {
            guard context.hopOrigin == server, !context.hasLeftOrigin else { return try await send(request) }
            guard request.body.isReplayable else {
                throw PipelineError(.invalidRequest(.body), "a body that can be read only once cannot be signed")
            }
            let body = try await request.body.collect(upTo: 16 << 20)
            var signed = request
            try signed.setHeader(sign(request, body), for: .authorization, isSecret: true)
            return try await send(signed)
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

    private func texts(of guide: String) throws -> [String] {
        let page = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/Pipeline/Pipeline.docc/\(guide).md")
        return Markdown(try String(contentsOf: page, encoding: .utf8)).blocks(in: "text")
    }

    @Test("The guide shows the output of explain() for a transport that does not decode content")
    func table() throws {
        let text = explanation(StubTransport())
        #expect(try texts(of: "Order").contains(text), "\(text)")
    }

    private func signer() throws -> RequestSigner {
        let server = try PipelineRequest(url: "https://library.example").origin
        return RequestSigner(account: "ann", server: server) { request, body in
            "\(request.method) \(request.head.path ?? "") \(body.count)"
        }
    }

    @Test("The guide OwnPlugins shows the finding for a misplaced plugin; the standard stack has no finding")
    func finding() throws {
        let signer = try signer()
        let wrong = Provider<Library>(transport: StubTransport(), plugins: [DeduplicationPlugin(), signer])
        let text = "\(wrong.explain())".split(separator: "\n").filter { $0.hasPrefix("leak") }
        #expect(try texts(of: "OwnPlugins").contains(text.joined()), "\(text)")
        let right = Provider<Library>(transport: StubTransport(), plugins: [.standard { signer }])
        #expect(right.explain().findings.isEmpty)
    }

    @Test("The signer signs each request to its server, and none after a redirect to another server")
    func signing() async throws {
        let transport = ScriptedTransport([
            .status(307, headers: [.location: "/v2"]), .status(307, headers: [.location: "https://b.test/"]),
            .status(307, headers: [.location: "https://library.example/v3"]), .status(200),
        ])
        let identities = Mutex<[String]>([])
        let end = PluginStack.didFinish { _, context in identities.withLock { $0 = context.identities } }
        let provider = Provider<URLTarget>(transport: transport, plugins: [end, try signer()])
        let body = RequestTask.requestData(Data("hello".utf8))
        _ = try await provider.request(URLTarget("https://library.example/v1", method: .put, task: body))
        #expect(transport.sent.map { $0.headers[.authorization] } == ["PUT /v1 5", "PUT /v2 5", nil, nil])
        #expect(identities.withLock { $0 } == ["RequestSigner ann"])
    }

    @Test("The signer refuses a body that can be read only once")
    func unreadableBody() async throws {
        let transport = ScriptedTransport([])
        let provider = Provider<URLTarget>(transport: transport, plugins: [try signer()])
        let body = RequestTask.requestStream(.stream(AsyncStream { $0.finish() }))
        let error = await #expect(throws: PipelineError.self) {
            try await provider.request(URLTarget("https://library.example/v1", method: .put, task: body))
        }
        #expect(error?.code == .invalidRequest(.body))
        #expect(transport.sent.isEmpty)
    }
}
