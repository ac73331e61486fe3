import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("Examples of APIRequest: environments, servers and plugins", .tags(.concurrent), .realTime, .watched)
struct ExampleClientTests {
    private static let list = "GET /v1/post?offset=0&limit=100"
    private let login = AuthController.login(email: "ann@example.com", password: "secret")

    private struct Device: Encodable {
        enum CodingKeys: String, CodingKey {
            case id = "X-Device"
            case languages = "X-Languages"
            case region = "X-Region"
            case isTablet = "X-Tablet"
        }
        var id = 7
        var languages = ["de", "en"]
        var region: String?
        var isTablet = true
    }

    @Test(
        "C4 C52 C55 B-C1 A call and a chain in flight keep their environment; the next call uses the new one",
        arguments: NetworkTransport.allCases
    )
    func environments(transport: NetworkTransport) async throws {
        var dev = try ExampleBench(
            transport,
            [
                "POST /v1/login": [.hold("login"), .respond(200, body: ExampleBench.token)],
                "GET /v1/post/7": [.hold("get"), .respond(200, body: ExampleBench.post)],
                Self.list: [.respond(200, body: "[]")],
            ]
        )
        let store = try LoopbackServer { _ in [.respond(200, body: "[\(ExampleBench.post)]")] }
        let environments = try APIEnvironments(
            [.dev: dev.server.serverURL, .appStore: ServerURL(base: store.url.absoluteString, path: "v2")],
            current: .dev
        )
        dev.api.server = nil
        dev.api.environments = environments
        let (server, api) = (dev.server, dev.api)
        async let chain = api.send(login.and(PostController.list()))
        async let call = api.send(PostController.get(id: 7))
        try await dev.wait { $0.holdCount >= 2 }
        try environments.use(.appStore)
        #expect(try await api.send(PostController.list()).map(\.id) == [7])
        server.release("get")
        server.release("login")
        let ((session, posts), post) = (try await chain, try await call)
        #expect(session.token == "t-1" && posts == [] && post.id == 7)
        #expect(Set(dev.lines) == ["POST /v1/login", "GET /v1/post/7", Self.list] && dev.lines.last == Self.list)
        #expect(store.requests.map(\.line) == ["GET /v2/post?offset=0&limit=100"])
        try environments.use(.dev)
        #expect(try await api.send(PostController.list()) == [])
        #expect(dev.lines.count == 4)
    }

    @Test(
        "C13 A request with its own server goes there, with its token; others go to the client's server",
        arguments: NetworkTransport.allCases
    )
    func serverURL(transport: NetworkTransport) async throws {
        let other = try LoopbackServer { _ in [.respond(204)] }
        let bench = try ExampleBench(
            transport,
            ["DELETE /v1/post/8": [.respond(204)]],
            plugins: [AccessTokenPlugin { _ in "t-1" }]
        )
        let server = ServerURL(base: other.url.absoluteString, path: "/media/v3/")
        _ = try await bench.api.send(PostController.delete(id: 7).serverURL(server))
        _ = try await bench.api.send(PostController.delete(id: 8))
        #expect(other.requests.map(\.line) == ["DELETE /media/v3/post/7"])
        #expect(other.requests.map { $0.values(of: "Host") } == [["127.0.0.1:\(other.port)"]])
        #expect(other.requests.map { $0.values(of: "Authorization") } == [["Bearer t-1"]])
        #expect(bench.lines == ["DELETE /v1/post/8"])
    }

    @Test(
        "AccessTokenPlugin adds a fresh token to each request that asks for one, and none to a login",
        arguments: NetworkTransport.allCases
    )
    func token(transport: NetworkTransport) async throws {
        let asked = Tally()
        let bench = try ExampleBench(
            transport,
            [
                "POST /v1/login": [.respond(200, body: ExampleBench.token)], "DELETE /v1/post/7": [.respond(204)],
                "POST /v1/post": [.respond(201, body: ExampleBench.post)], Self.list: [.respond(200, body: "[]")],
            ],
            plugins: [
                AccessTokenPlugin { _ in
                    asked.add()
                    return "t-\(asked.count)"
                }
            ]
        )
        _ = try await bench.api.send(login)
        _ = try await bench.api.send(PostController.create(NewPost(text: "Hi")))
        _ = try await bench.api.send(PostController.list())
        _ = try await bench.api.send(PostController.delete(id: 7))
        let fields = bench.server.requests.map { $0.values(of: "Authorization") }
        #expect(fields == [["Basic YW5uQGV4YW1wbGUuY29tOnNlY3JldA=="], ["Bearer t-1"], [], ["Bearer t-2"]])
    }

    @Test(
        "C57 C58 HeadersPlugin sends a value's members as header fields unless the request already sets them",
        arguments: NetworkTransport.allCases
    )
    func headers(transport: NetworkTransport) async throws {
        let bench = try ExampleBench(
            transport,
            [Self.list: [.respond(200, body: "[]")]],
            plugins: [HeadersPlugin(Device())]
        )
        _ = try await bench.api.send(PostController.list())
        _ = try await bench.api.send(PostController.list().addHeaders(["x-device": "own"]))
        let names = ["X-Device", "X-Languages", "X-Region", "X-Tablet"]
        let fields = bench.server.requests.map { request in names.map { request.values(of: $0) } }
        #expect(fields == ["7", "own"].map { [[$0], ["de, en"], [], ["true"]] })
    }

    @Test(
        "C5 C29 UnauthorizedPlugin reports each undesired 401, before the caller sees it, and nothing else",
        arguments: NetworkTransport.allCases
    )
    func unauthorized(transport: NetworkTransport) async throws {
        let diary = Diary()
        let bench = try ExampleBench(
            transport,
            [
                "POST /v1/login": [.respond(200, body: ExampleBench.token)],
                "DELETE /v1/post/7": [.respond(401, body: #"{"message":"expired"}"#)],
                Self.list: [.respond(403, body: "{}")],
            ],
            plugins: [
                UnauthorizedPlugin { response, _ in
                    diary.add(response.map { "\($0.request.method) \($0.statusCode)" } ?? "no response")
                }
            ]
        )
        _ = try await bench.api.send(login)
        #expect(try await bench.failure(PostController.list())?.response?.statusCode == 403)
        #expect(diary.entries == [])
        let error = try await bench.failure(PostController.delete(id: 7))
        #expect(error?.message == "expired" && diary.entries == ["DELETE 401"])
        #expect(try await bench.failure(PostController.delete(id: 7).desiredStatusCode(.unauthorized)) == nil)
        #expect(diary.entries == ["DELETE 401"])
    }
}
