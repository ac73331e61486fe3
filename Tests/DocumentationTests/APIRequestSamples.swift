import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

// The samples of the guide APIRequests.

// sample: api
enum API {
    static let auth = AuthController.self
    static let posts = PostController.self
}
// end

// sample: api
enum AuthController: EndpointController {
    static let endpoint = "auth"
}
// end

// sample: login
extension AuthController {
    struct Session: Decodable {
        let token: String
    }

    static func login(email: String, password: String) -> APIRequest<Session> {
        request("login").method(.post).basicAuth(username: email, password: password)
            .addCustomError(.notFound, "User not found")
    }
}
// end

// sample: post
enum PostController: EndpointController {
    static let endpoint = "post"
}

extension PostController {
    struct Post: Decodable {
        let id: Int
        let text: String
        let createdAt: Date
    }

    struct NewPost: MultipartPayload {
        let text: String
        let images: [FormFile]
        let video: FormFile?
    }

    struct ListQuery: Encodable {
        let offset: Int
        let limit: Int
    }

    static func create(_ post: NewPost) -> APIRequest<Post> {
        request(payload: post).method(.post).desiredStatusCode(.created).authorized()
    }

    static func list(offset: Int, limit: Int) -> APIRequest<[Post]> {
        request().query(ListQuery(offset: offset, limit: limit))  // post?offset=0&limit=100
    }

    static func delete(id: Int) -> APIRequest<IgnoredBody> {
        request("\(id)").method(.delete).desiredStatusCode(.noContent).authorized()
    }
}
// end

private enum APIRequestSamples {
    static func client(token: @escaping @Sendable () async -> String?) throws -> APIClient {
        // sample: client
        let environments = APIEnvironments(
            dev: ServerURL(base: "http://127.0.0.1:8080"),
            testFlight: ServerURL(base: "https://stage.example.com", path: "v1"),
            appStore: ServerURL(base: "https://api.example.com", path: "v1")
        )
        try environments.useVariable()  // the variable `env` of the scheme, if it is set

        let plugins = PluginStack.standard {
            AccessTokenPlugin { _ in await token() }  // nil while nobody is logged in
        }
        var api = APIClient(Provider(plugins: [plugins]), environments: environments)
        api.coders.dateDecodingStrategy = .secondsSince1970
        api.options.errorTexts.set("You are not logged in", for: .unauthorized)
        // end
        return api
    }

    static func answers(_ api: APIClient) async throws -> (String, [PostController.Post]) {
        // sample: chain
        let (session, posts) = try await api.send(
            API.auth.login(email: "ann@example.com", password: "secret").and(API.posts.list(offset: 0, limit: 10))
        )
        // end
        return (session.token, posts)
    }

    static func upload(
        _ posts: [PostController.NewPost],
        to api: APIClient,
        show: @escaping @Sendable (String) -> Void
    ) async throws -> APIBatch {
        // sample: batch
        let uploads = posts.map { API.posts.create($0) }.flatten().concurrent(by: 3).avoidCancelOnError()
        let outcome = try await api.send(uploads) { show("\(Int($0 * 100)) %") }  // over all of them
        show("\(outcome.failures.count) of \(outcome.count) have failed")
        // end
        return uploads
    }

    static func upload(
        _ uploads: APIBatch,
        to api: APIClient,
        show: @escaping @Sendable (String) -> Void
    ) -> Task<Void, Never> {
        // sample: batch by callback
        let handle = api.call(uploads)
            .onProgress { show("\(Int($0 * 100)) %") }
            .onSuccess { show("\($0.failures.count) of \($0.count) have failed") }
            .onError { show($0.message) }
            .execute()
        // end
        return handle
    }
}

// sample: view
@MainActor
final class LoginModel {
    private let api: APIClient
    private var call: Task<Void, Never>?
    private(set) var isBusy = false
    private(set) var text = ""
    private(set) var token: String?

    init(api: APIClient) {
        self.api = api
    }

    func logIn(email: String, password: String) {
        guard !isBusy else { return }
        isBusy = true
        call = api.call(API.auth.login(email: email, password: password))
            .onNotAuthorized { [weak self] in self?.end("This is not your password") }
            .onCancellation { [weak self] in self?.end("") }
            .onError { [weak self] in self?.end($0.message) }
            .onSuccess { [weak self] in self?.end("Welcome", token: $0.token) }
            .execute()
    }

    func cancel() { call?.cancel() }

    private func end(_ text: String, token: String? = nil) {
        self.text = text
        self.token = token
        isBusy = false
    }
}
// end

@Suite("The samples of the guide APIRequests", .watched)
struct APIRequestSamplesTests {
    private func bench(_ steps: ScriptedTransport.Step...) throws -> (ScriptedTransport, APIClient) {
        let transport = ScriptedTransport(steps)
        let sample = try APIRequestSamples.client { "token" }
        var api = APIClient(
            Provider(transport: transport, plugins: [AccessTokenPlugin { _ in "token" }]),
            server: ServerURL(base: "https://api.example.com/v1")
        )
        api.coders = sample.coders
        api.options.errorTexts = sample.options.errorTexts
        return (transport, api)
    }

    @Test("The controllers send the requests that the page shows")
    func controllers() async throws {
        let post = #"{"id": 1, "text": "Hello", "createdAt": 1000}"#
        let (transport, api) = try bench(
            .status(200, body: #"{"token": "t"}"#),
            .status(200, body: "[\(post)]"),
            .status(201, body: post),
            .status(204),
            .status(401)
        )
        let (token, posts) = try await APIRequestSamples.answers(api)
        #expect(token == "t" && posts.map(\.createdAt) == [Date(timeIntervalSince1970: 1000)])
        _ = try await api.send(API.posts.create(PostController.NewPost(text: "Hello", images: [], video: nil)))
        _ = try await api.send(API.posts.delete(id: 1))
        #expect(
            transport.sent.map { "\($0.method) \($0.head.path ?? "")" } == [
                "POST /v1/auth/login", "GET /v1/post?offset=0&limit=10", "POST /v1/post", "DELETE /v1/post/1",
            ]
        )
        #expect(
            transport.sent.map { $0.headers[.authorization]?.prefix(6) } == ["Basic ", nil, "Bearer", "Bearer"]
        )
        let error = await pipelineError { _ = try await api.send(API.posts.list(offset: 0, limit: 1)) }
        #expect(error?.message == "You are not logged in")
    }

    @Test("The batch continues after a failure and counts it, awaited and with a callback")
    func batch() async throws {
        let created = ScriptedTransport.Step.status(201, body: #"{"id": 1, "text": "", "createdAt": 0}"#)
        let (_, api) = try bench(.status(500), created, created, .status(500))
        let posts = [0, 1].map { PostController.NewPost(text: "\($0)", images: [], video: nil) }
        let (awaited, called) = (Journal(), Journal())
        let uploads = try await APIRequestSamples.upload(posts, to: api) { awaited.add($0) }
        await APIRequestSamples.upload(uploads, to: api) { called.add($0) }.value
        for lines in [awaited, called] {
            #expect(lines.entries.last == "1 of 2 have failed" && lines.entries.contains("100 %"))
        }
    }

    @Test("The model changes on the main actor", arguments: [(200, "Welcome"), (401, "This is not your password")])
    @MainActor
    func model(status: Int, text: String) async throws {
        let (transport, api) = try bench(.status(status, body: #"{"token": "t"}"#))
        let model = LoginModel(api: api)
        model.logIn(email: "ann@example.com", password: "secret")
        model.logIn(email: "ann@example.com", password: "secret")
        await eventually { !model.isBusy }
        #expect(model.text == text && model.token == (status == 200 ? "t" : nil) && transport.sent.count == 1)
    }

    @Test("A cancelled model shows no text")
    @MainActor
    func cancelledModel() async throws {
        let model = LoginModel(api: try bench(.hang).1)
        model.logIn(email: "ann@example.com", password: "secret")
        model.cancel()
        await eventually { !model.isBusy }
        #expect(model.text.isEmpty)
    }
}
