import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Provider: URLs without a target type", .watched)
struct ProviderURLTargetTests {
    private struct Repo: Codable, Equatable {
        let name: String
    }

    private let url = "https://api.example.com/repos?page=2"

    @Test("get decodes the response")
    func get() async throws {
        let transport = ScriptedTransport([.status(200, body: #"[{"name": "pipeline"}]"#)])
        let client = Provider<URLTarget>(transport: transport)
        #expect(try await client.get(url, as: [Repo].self) == [Repo(name: "pipeline")])
        let sent = try #require(transport.sent.first)
        #expect(sent.method == .get && sent.url?.absoluteString == url && sent.body.bytes ?? Data() == Data())
    }

    @Test("send encodes the body as JSON, defaults to POST, and decodes the response")
    func send() async throws {
        let transport = ScriptedTransport(always: .status(201, body: #"{"name": "made"}"#))
        let client = Provider<URLTarget>(transport: transport)
        #expect(try await client.send(Repo(name: "new"), to: url, as: Repo.self) == Repo(name: "made"))
        try await client.send(Repo(name: "new"), to: url, method: .put)
        #expect(transport.sent.map(\.method) == [.post, .put])
        for sent in transport.sent {
            #expect(sent.headers[.contentType] == "application/json")
            #expect(sent.body.bytes == Data(#"{"name":"new"}"#.utf8))
        }
    }

    @Test("Plugins, options and the default validation apply")
    func pipeline() async throws {
        let seen = Journal()
        let client = Provider<URLTarget>(
            transport: ScriptedTransport([.status(200, body: "[]"), .status(404)]),
            plugins: [.willSend { _, context in seen.add(context.options[SampleOption.self]) }]
        )
        _ = try await client.get(url, as: [Repo].self, options: RequestOptions { $0[SampleOption.self] = "mine" })
        let error = await pipelineError { _ = try await client.get(url, as: [Repo].self) }
        #expect(error?.code == .unacceptableStatus && error?.statusCode == 404)
        #expect(seen.entries == ["mine", "default"])
    }

    @Test("An access token is sent only with an authorization type")
    func token() async throws {
        let transport = ScriptedTransport(always: .status(200, body: #"{"name": "a"}"#))
        let client = Provider<URLTarget>(transport: transport, plugins: [AccessTokenPlugin { _ in "t0ken" }])
        _ = try await client.get(url, as: Repo.self)
        _ = try await client.get(url, as: Repo.self, authorizationType: .bearer)
        _ = try await client.send(Repo(name: "b"), to: url, as: Repo.self, authorizationType: .custom("Token"))
        try await client.send(Repo(name: "c"), to: url, authorizationType: .bearer)
        #expect(
            transport.sent.map { $0.headers[.authorization] } == [nil, "Bearer t0ken", "Token t0ken", "Bearer t0ken"]
        )
    }

    @Test("An invalid URL fails before anything is sent, and the error shows the host")
    func invalid() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let client = Provider<URLTarget>(transport: transport)
        for text in ["https://api exam.ple/repos?key=s3cr3t", "api.exam.ple/repos?key=s3cr3t"] {
            let error = try #require(await pipelineError { _ = try await client.get(text, as: [Repo].self) })
            #expect(error.code == .invalidRequest(.url))
            #expect(error.reason.contains("exam.ple") && !"\(error)".contains("s3cr3t"))
        }
        #expect(transport.sent.isEmpty)
    }

    @Test("The description shows the method, host and path, but no query value")
    func description() {
        var target = URLTarget("https://api.example.com/repos?key=s3cr3t", method: .delete)
        target.headers = ["X-Key": "s3cr3t"]
        var dumped = ""
        dump(target, to: &dumped)
        for text in ["\(target)", String(reflecting: target), dumped] {
            #expect(text.contains("DELETE https://api.example.com/repos") && !text.contains("s3cr3t"))
        }
    }
}
