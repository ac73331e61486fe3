import Foundation
import Pipeline
import PipelineAPI
import Synchronization
import TestSupport
import Testing

@Suite("httpbin: APIRequest", .besideHTTPBin, .realTime, .watched)
struct APIRequestTests {
    /// What httpbin reports about the name and password.
    struct Login: Decodable, Equatable {
        let authenticated: Bool
        let user: String
    }

    /// `/basic-auth`, which accepts the credentials in its path.
    enum Accounts: EndpointController {
        static let endpoint = "basic-auth"

        static func login(_ email: String, _ password: String, expects expected: String) -> APIRequest<Login> {
            request(email, expected).basicAuth(username: email, password: password)
                .addCustomError(.unauthorized, "Name or password is wrong")
        }
    }

    /// `/anything`, which responds with the request it received.
    enum Posts: EndpointController {
        static let endpoint = "anything"

        static func signup(_ user: Signup) -> APIRequest<Echo> { request("signup", payload: user).method(.post) }

        static func create(_ post: NewPost) -> APIRequest<Echo> { request("post", payload: post).method(.post) }

        static func list(_ query: ListQuery) -> APIRequest<Echo> { request("post").query(query) }

        static func get(id: Int) -> APIRequest<Echo> { request("post", "\(id)") }

        static func edit(id: Int, _ edit: Edit) -> APIRequest<Echo> {
            request("post", "\(id)", payload: edit).method(.patch)
        }
    }

    /// `/status`, which responds with the status in its path.
    enum Statuses: EndpointController {
        static let endpoint = "status"

        static func get(_ status: Int) -> APIRequest<IgnoredBody> { request("\(status)") }

        static func delete(_ status: Int) -> APIRequest<IgnoredBody> {
            request("\(status)").method(.delete).desiredStatusCode(.noContent)
                .addCustomError(.notFound, "User not found")
        }
    }

    struct Signup: JSONPayload, Decodable, Equatable {
        var email = "Zoë@Example.com"
        var name = "a \"b\" \\ c"
        var age: Int? = 44
        var referrer: String?
        var born = Date(timeIntervalSince1970: 1_000_000_000)
    }

    struct NewPost: MultipartPayload {
        var text: String
        var tags: [String] = []
        var at = Date(timeIntervalSince1970: 1_000_000_000)
        var images: [FormFile] = []
        var cover: FormFile?
        var video: FormFile?
    }

    struct Edit: FormURLEncodedPayload {
        var text = "Zoë & co=1+1"
        var tags = ["b", "a"]
        var isPublic = false
    }

    struct ListQuery: Encodable {
        var offset = 0
        var limit = 100
        var search: String?
    }

    private let api: APIClient

    init() { self.init(plugins: []) }

    private init(plugins: [any PluginType]) {
        let server = ServerURL(base: HTTPBin.url.absoluteString)
        api = APIClient(Provider<MultiTarget>(plugins: plugins), server: server)
    }

    private func client(_ plugins: any PluginType...) -> APIClient { APIRequestTests(plugins: plugins).api }

    /// The error that a request fails with, or `nil` if it succeeds.
    private func failure<Output>(_ request: APIRequest<Output>) async throws -> PipelineError? {
        do {
            _ = try await api.send(request)
            return nil
        } catch let error as PipelineError {
            return error
        }
    }

    @Test(
        "a login succeeds with the given name and password",
        arguments: [("Ann@Example.com", "secret"), ("Zoë.Müller@Example.COM", "p w+d%21")]
    )
    func login(email: String, password: String) async throws {
        let expected = password.replacing("%", with: "%25")
        let login = try await api.send(Accounts.login(email, password, expects: expected))
        #expect(login == Login(authenticated: true, user: email))
    }

    @Test("a login with a wrong password calls the client's handler and then onNotAuthorized")
    func wrongPassword() async throws {
        let (events, continuation) = AsyncStream<String>.makeStream()
        let api = client(
            UnauthorizedPlugin { response, _ in continuation.yield("client \(response?.statusCode ?? 0)") }
        )
        let login = Accounts.login("ann", "wrong", expects: "right")
        let end = { @Sendable (told: String) in
            continuation.yield(told)
            continuation.finish()
        }
        api.call(login).onSuccess { _ in end("success") }.onError { _ in end("error") }
            .onNotAuthorized { end("notAuthorized") }.execute()
        var told: [String] = []
        for await event in events { told.append(event) }
        #expect(told == ["client 401", "notAuthorized"])
        #expect(try await failure(login)?.message == "Name or password is wrong")
    }

    @Test("a signup arrives as JSON")
    func signup() async throws {
        let echo = try await api.send(Posts.signup(Signup()))
        #expect(echo.method == "POST" && echo.url.hasSuffix("/anything/signup"))
        #expect(
            echo.data == #"{"age":44,"born":"2001-09-09T01:46:40Z","email":"Zoë@Example.com","name":"a \"b\" \\ c"}"#
        )
        #expect(echo.headers["Content-Type"] == "application/json")
        struct Seen: Decodable { let json: Signup }
        let seen = APIRequest<Seen>("anything", payload: Signup()).method(.post)
            .dateEncodingStrategy(.millisecondsSince1970).dateDecodingStrategy(.millisecondsSince1970)
        #expect(try await api.send(seen).json == Signup())
    }

    @Test("a post arrives with its fields, its images and a video from a file")
    func create() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let video = Data((0..<3 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 11) })
        let file = folder.appending(path: "clip.mp4")
        try video.write(to: file)
        let images = ["jpg", "png"].map { FormFile(binarySample + Data($0.utf8), fileName: "Zoë.\($0)") }
        let post = NewPost(
            text: "Zoë & co",
            tags: ["b", "a"],
            images: images,
            cover: images[1],
            video: FormFile(contentsOf: file)
        )
        let steps = Mutex<[Double]>([])
        let echo = try await withCheckedThrowingContinuation { continuation in
            api.call(Posts.create(post)).onProgress { step in steps.withLock { $0.append(step) } }
                .onSuccess { continuation.resume(returning: $0) }.onError { continuation.resume(throwing: $0) }
                .execute()
        }
        #expect(echo.method == "POST" && echo.url.hasSuffix("/anything/post") && echo.data.isEmpty)
        #expect(echo.form == ["text": "Zoë & co", "tags[]": ["b", "a"], "at": "2001-09-09T01:46:40Z"])
        #expect(Set(echo.files.keys) == ["images[]", "cover", "video"])
        // Of several files with one name, httpbin shows the first.
        for (name, image, type) in [("images[]", images[0], "image/jpeg"), ("cover", images[1], "image/png")] {
            #expect(echo.files[name]?.texts.map(bytes(ofDataURL:)) == [image.data])
            #expect(echo.files[name]?.texts.first?.hasPrefix("data:\(type);") == true)
        }
        #expect(echo.files["video"]?.texts.compactMap(bytes(ofDataURL:)) == [video])
        #expect(echo.files["video"]?.texts.first?.hasPrefix("data:video/mp4;") == true)
        #expect(echo.headers["Content-Type"]?.hasPrefix("multipart/form-data; boundary=pipeline-") == true)
        let progress = steps.withLock { $0 }
        #expect(progress == progress.sorted() && progress.last == 1 && progress.count { $0 == 1 } == 1)
        #expect(progress.allSatisfy { (0...1).contains($0) })
    }

    @Test("a list request sends its query in the order of its members")
    func list() async throws {
        let echo = try await api.send(Posts.list(ListQuery()))
        #expect(echo.method == "GET" && echo.args == ["offset": "0", "limit": "100"])
        #expect(echo.url.hasSuffix("/anything/post?offset=0&limit=100"))
        let search = try await api.send(Posts.list(ListQuery(search: "Zoë & co=1+1")))
        #expect(search.args == ["offset": "0", "limit": "100", "search": "Zoë & co=1+1"])
    }

    @Test("a post is requested by its number, with the fields of client and request, and a token")
    func get() async throws {
        struct Device: Encodable {
            enum CodingKeys: String, CodingKey {
                case id = "X-Device"
                case region = "X-Region"
            }
            var id = 7
            var region: String?
        }
        let api = client(HeadersPlugin(Device()), AccessTokenPlugin { _ in "t-1" })
        let echo = try await api.send(Posts.get(id: 7).authorized().addHeaders(["X-Own": "Zoe"]))
        #expect(echo.method == "GET" && echo.url.hasSuffix("/anything/post/7") && echo.args == [:])
        #expect(echo.data.isEmpty && echo.form == [:] && echo.files == [:])
        #expect(["X-Device", "X-Region", "X-Own"].map { echo.headers[$0] } == ["7", nil, "Zoe"])
        #expect(echo.headers["Authorization"] == "Bearer t-1")
        #expect(try await api.send(Posts.get(id: 7)).headers["Authorization"] == nil)
    }

    @Test("an edit arrives as a form")
    func edit() async throws {
        let echo = try await api.send(Posts.edit(id: 7, Edit()))
        #expect(echo.method == "PATCH" && echo.url.hasSuffix("/anything/post/7"))
        #expect(echo.form == ["text": "Zoë & co=1+1", "tags[]": ["b", "a"], "isPublic": "0"])
        #expect(echo.headers["Content-Type"] == "application/x-www-form-urlencoded; charset=utf-8")
    }

    @Test("a deletion succeeds with 204, and fails with its own text with 404")
    func delete() async throws {
        #expect(try await api.send(Statuses.delete(204)) == IgnoredBody())
        let error = try #require(try await failure(Statuses.delete(404)))
        #expect(error.code == .unacceptableStatus && error.message == "User not found")
        #expect(try await failure(Statuses.delete(200))?.response?.statusCode == 200)
    }

    @Test("a status without a name succeeds only if it is desired")
    func namelessStatus() async throws {
        #expect(try await api.send(Statuses.get(777).desiredStatusCode(777)) == IgnoredBody())
        #expect(try await failure(Statuses.get(777))?.response?.statusCode == 777)
    }

    @Test("a chain of a login, a list and a post returns all three")
    func chain() async throws {
        let login = Accounts.login("ann", "secret", expects: "secret")
        let chain = login.and(Posts.list(ListQuery())).and(Posts.get(id: 7))
        let (session, list, post): (Login, Echo, Echo) = try await api.send(chain)
        #expect(session.user == "ann" && list.args["limit"] == "100" && post.url.hasSuffix("/post/7"))
    }

    @Test("a batch sends all of its uploads, two at a time")
    func batch() async throws {
        let uploads = (1...5).map { number in
            Posts.create(NewPost(text: "\(number)", images: [FormFile(binarySample, fileName: "\(number).jpg")]))
        }
        let outcome = try await api.send(uploads.flatten().concurrent(by: 2))
        #expect(outcome.count == 5 && outcome.failures.isEmpty)
        let mixed: [any APIOperation] = [Statuses.get(200), Statuses.delete(404), Posts.get(id: 7)]
        let failures = try await api.send(mixed.flatten().avoidCancelOnError()).failures
        #expect(failures.mapValues(\.message) == [1: "User not found"])
    }

    @Test(
        "a call that takes too long calls onTimeout, and a cancelled one calls onCancellation",
        arguments: [true, false]
    )
    func special(isCancelled: Bool) async throws {
        let (events, continuation) = AsyncStream<String>.makeStream()
        let sent = Signal()
        let api = client(.willSend { _, _ in sent.send() })
        let request = APIRequest<Echo>("delay/8")
        let handle = api.call(isCancelled ? request : request.attemptTimeout(.milliseconds(300)))
            .onSuccess { _ in continuation.yield("success") }.onError { continuation.yield("error \($0.code)") }
            .onTimeout { continuation.yield("timeout") }.onCancellation { continuation.yield("cancellation") }
            .execute()
        if isCancelled {
            await sent.wait()
            handle.cancel()
        }
        var told = events.makeAsyncIterator()
        #expect(await told.next() == (isCancelled ? "cancellation" : "timeout"))
        // Any later event would be next.
        #expect(try await api.send(Posts.get(id: 7)).method == "GET")
        continuation.finish()
        #expect(await told.next() == nil)
    }
}
