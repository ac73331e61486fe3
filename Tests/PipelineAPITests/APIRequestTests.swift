import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("APIRequest", .tags(.concurrent), .watched)
struct APIRequestTests {
    struct ListQuery: Encodable, Sendable {
        var offset = 0
        var limit = 100
    }

    struct User: Codable, Sendable, Equatable {
        var name: String
    }

    struct Unencodable: JSONPayload, Error {
        func encode(to encoder: any Encoder) throws { throw self }
    }

    @Test("C1 C3 B-C21 The endpoint is appended to the server's path, joined by single slashes and escaped once")
    func url() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let requests: [APIRequest<IgnoredBody>] = [
            APIRequest("login"), APIRequest("/login"), APIRequest("users", "7"), APIRequest(["a b", "c%20d"]),
            APIRequest("post?sort=a b&x=%31#2"), APIRequest(),
        ]
        for request in requests { _ = try await bench.api.send(request) }
        #expect(
            bench.transport.sent.map { $0.head.path ?? "" } == [
                "/v1/login", "/v1/login", "/v1/users/7", "/v1/a%20b/c%20d", "/v1/post?sort=a%20b&x=%31%232", "/v1",
            ]
        )
        #expect(bench.transport.sent.allSatisfy { $0.host == "api.example.com" && $0.method == .get })
    }

    @Test("Data in one of several endpoint parts stays in the path and cannot lead out of it")
    func dataInPath() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        _ = try await bench.api.send(APIRequest<IgnoredBody>("users", "ann?role=admin#2", "posts"))
        let _: User? = try? await bench.api.send(Users.get(name: "ann?role=admin"))
        #expect(bench.paths == ["users/ann%3Frole=admin%232/posts", "users/ann%3Frole=admin"])
        for data in ["../admin", "..", "a/%2E%2e/b", ".%2e"] {
            let error = await pipelineError { _ = try await bench.api.send(APIRequest<IgnoredBody>("users", data)) }
            #expect(error?.code == .invalidRequest(.path))
        }
        #expect(bench.transport.sent.count == 2)
        _ = try await bench.api.send(APIRequest<IgnoredBody>("users", "..a", "b..", "..."))
        #expect(bench.paths.last == "users/..a/b../...")
    }

    @Test("C16 C17 addCustomError sets the error text for a status, and the last text for a status wins")
    func errorTexts() async throws {
        let bench = APIBench(ScriptedTransport(always: .status(404, body: #"{"message":"from the server"}"#)))
        let request = APIRequest<IgnoredBody>("x")
        let plain = await pipelineError { _ = try await bench.api.send(request) }
        #expect(plain?.customText == nil && plain?.message == "from the server")
        let texts = request.addCustomError(.notFound, "a").addCustomError(.notFound, "User not found")
        let error = await pipelineError { _ = try await bench.api.send(texts.addCustomError(.conflict, "c")) }
        #expect(error?.customText == "User not found" && error?.message == "User not found")
    }

    @Test("A body larger than the provider's limit fails with limit.bodyBytes, even for IgnoredBody")
    func tooLarge() async throws {
        let provider = Provider<MultiTarget>(
            transport: ScriptedTransport(always: .status(200, body: "12345")),
            configuration: .init(limits: ProviderConfiguration.Limits(bufferedBodyByteCount: 4))
        )
        let api = APIClient(provider, server: ServerURL(base: "https://example.com"))
        let error = await pipelineError { _ = try await api.send(APIRequest<IgnoredBody>("x")) }
        #expect(error?.code == .limit(.bodyBytes))
    }

    @Test("C8 B-C8 A payload or a query that cannot be encoded is an error, nothing is sent, and the next call works")
    func unencodable() async throws {
        let bench = APIBench(.ok)
        let request = APIRequest<IgnoredBody>("x", payload: Unencodable()).method(.post)
        #expect(await pipelineError { _ = try await bench.api.send(request) }?.code == .encoding)
        let query = APIRequest<IgnoredBody>("x").query([Double.infinity])
        #expect(await pipelineError { _ = try await bench.api.send(query) }?.code == .encoding)
        #expect(bench.transport.sent.isEmpty)
        _ = try await bench.api.send(APIRequest<IgnoredBody>("next"))
        #expect(bench.paths == ["next"])
    }

    @Test("Any Provider<MultiTarget> sends a request that has a server, and decodes as the request specifies")
    func anyProvider() async throws {
        let transport = ScriptedTransport(always: .status(200, body: "100"))
        let provider = Provider<MultiTarget>(transport: transport)
        let request = APIRequest<Date>("time").serverURL(ServerURL(base: "https://example.com", path: "v2"))
            .dateDecodingStrategy(.secondsSince1970)
        #expect(try await provider.requestDecoded(request) == Date(timeIntervalSince1970: 100))
        #expect(transport.sent.first?.url?.absoluteString == "https://example.com/v2/time")
        let lost = await pipelineError { _ = try await provider.requestDecoded(APIRequest<IgnoredBody>("time")) }
        #expect(lost?.code == .invalidRequest(.url))
    }

    private enum Users: EndpointController {
        static let endpoint = "users"
        static func get(id: Int) -> APIRequest<User> { request("\(id)") }
        static func get(name: String) -> APIRequest<User> { request(name) }
    }

    private enum Elsewhere: EndpointController {
        static let server = ServerURL(base: "https://other.example.com")
        static let endpoint = "x"
    }

    private enum Perhaps: EndpointController {
        static var server: ServerURL? { ServerURL(base: "https://third.example.com") }
        static let endpoint = "y"
    }

    @Test("C6 C7 A controller creates requests below its endpoint, for its own server if it has one")
    func controllers() async throws {
        let bench = APIBench(ScriptedTransport(always: .status(200, body: #"{"name":"Ann"}"#)))
        #expect(try await bench.api.send(Users.get(id: 7)).name == "Ann")
        let _: IgnoredBody = try await bench.api.send(Elsewhere.request())
        let _: IgnoredBody = try await bench.api.send(Perhaps.request("1", payload: nil))
        #expect(
            bench.transport.sent.compactMap(\.url?.absoluteString) == [
                "https://api.example.com/v1/users/7", "https://other.example.com/x", "https://third.example.com/y/1",
            ]
        )
    }

    @Test("The description and the dump of a request show only its method and path")
    func description() {
        let request = APIRequest<IgnoredBody>("login?token=hunter2").addHeaders(["X": "hunter2"])
            .basicAuth(username: "hunter2", password: "hunter2").query(["q": "hunter2"])
        var text = "\(request)\(request.task)"
        dump(request, to: &text)
        #expect(text.contains("GET login") && !text.contains("hunter2"))
    }
}
