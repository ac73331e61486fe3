import Foundation
import Pipeline
import PipelineAPI
import PipelineInspector
import PipelineRecording
import Synchronization

/// A tour of an API that is described with `APIRequest`.
struct JournalTour {
    private let email = "ursula@example.com"
    private let password = "hunter2 and a half"
    private let session = Session()
    private let environments = Journal.makeEnvironments()
    private let log = LogLines()
    private let api: APIClient

    init(origin: String, _ inspector: InspectorPlugin) {
        let session = session
        let log = log
        let provider = Provider<MultiTarget>(
            transport: URLSessionTransport(),
            plugins: [
                inspector,
                LoggingPlugin(level: .trace) { _, line in log.keep(line) },
                AccessTokenPlugin { _ in session.accessToken },
            ],
            configuration: .init(timeline: true)
        ) { Endpoint($0, at: origin) }
        api = Journal.makeClient(provider, environments: environments)
    }

    func run() async throws {
        try await signUp()
        let post = try await createPost()
        try await attachImages(to: post)
        try await listAndDelete()
        try await fail()
        try readLog()
        try await switchEnvironment()
    }

    private func signUp() async throws {
        heading("The fluent style: signup, login, and a list in one chain")
        let account = SignupRequest(email: email, name: "Ursula", password: password)
        let chain = Journal.auth.signup(account)
            .and(Journal.auth.login(email: email, password: password))
            .and(Journal.posts.list())
        let (_, login, posts) = try await api.send(chain)
        session.begin(with: login.token)
        show("logged in", login.name)
        show("posts", "\(posts.count)")
        try expect(login.name == "Ursula" && posts.isEmpty, "the account is new and has no posts")
    }

    private func createPost() async throws -> Post {
        heading("A post: two images from memory, and a video that is streamed from disk")
        let video = try TemporaryFile("walk.mp4", pattern(byteCount: 150_000))
        defer { video.remove() }
        let newPost = NewPost(
            text: "A walk in the rain",
            images: [
                FormFile(pattern(byteCount: 20_000), fileName: "beach.jpg"),
                FormFile(pattern(byteCount: 30_000), fileName: "café.png"),
            ],
            video: FormFile(contentsOf: video.url)
        )
        let created = try await api.send(Journal.posts.create(newPost).withResponse)
        let post = created.body
        show("post \(post.id)", post.text)
        for file in post.attachments { show("", "\(file.fileName), \(file.mimeType), \(file.byteCount) bytes") }
        show(created.response.exchanges)
        let expected = [
            Post.Attachment(fileName: "beach.jpg", mimeType: "image/jpeg", byteCount: 20_000),
            Post.Attachment(fileName: "café.png", mimeType: "image/png", byteCount: 30_000),
            Post.Attachment(fileName: "walk.mp4", mimeType: "video/mp4", byteCount: 150_000),
        ]
        try expect(created.response.statusCode == 201 && post.text == newPost.text, "the post is created")
        try expect(post.attachments == expected, "the server has each file with its name, type and size")

        let bytes = try await api.send(Journal.posts.attachment("walk.mp4", of: post.id))
        show("downloaded", "walk.mp4, \(bytes.count) bytes")
        try expect(try bytes == Data(contentsOf: video.url), "the downloaded video equals the file on disk")
        return post
    }

    private func attachImages(to post: Post) async throws {
        heading("Six uploads, two at a time: a batch with progress")
        let uploads = (1...6).map { number in
            Journal.posts.attach(FormFile(pattern(byteCount: 10_000), fileName: "frame\(number).png"), to: post.id)
        }
        let steps = Mutex<[Double]>([])
        let outcome = try await api.send(uploads.flatten().concurrent(by: 2)) { step in
            steps.withLock { $0.append(step) }
        }
        let progress = steps.withLock { $0 }
        show("uploads", "\(outcome.count)")
        show("progress", progress.map { "\(Int($0 * 100))" }.joined(separator: " ") + " %")
        try expect(outcome.count == 6 && outcome.failures.isEmpty, "all six uploads succeed")
        try expect(progress == progress.sorted() && progress.last == 1, "progress ends at 1 and never goes back")
    }

    private func listAndDelete() async throws {
        heading("A list of posts, and the deletion of one")
        let second = try await api.send(Journal.posts.create(NewPost(text: "And then the sun came out")))
        let posts = try await api.send(Journal.posts.list())
        for post in posts { show("post \(post.id)", "\(post.text), \(post.attachments.count) attachments") }
        try expect(
            posts.map(\.attachments.count) == [9, 0],
            "the first post has its three files and the six of the batch"
        )

        let deleted = try await api.send(Journal.posts.delete(id: second.id).withResponse)
        let rest = try await api.send(Journal.posts.list(ListQuery(offset: 0, limit: 10)))
        show("deleted", "post \(second.id), status \(deleted.response.statusCode)")
        show("remaining", "\(rest.count)")
        try expect(deleted.response.statusCode == 204 && rest.map(\.id) == [posts[0].id], "one post remains")
    }

    private func fail() async throws {
        heading("Errors with messages for users")
        let account = SignupRequest(email: email, name: "Ursula", password: password)
        let login = try await failure(of: Journal.auth.login(email: email, password: "guessed"))
        let delete = try await failure(of: Journal.posts.delete(id: 99))
        let signup = try await failure(of: Journal.auth.signup(account))
        show("login", "\(login.message) (from the request)")
        show("delete", "\(delete.message) (from the client)")
        show("signup", "\(signup.message) (from the server)")
        try expect([login, delete, signup].map(\.response?.statusCode) == [401, 404, 409], "all three are refused")
        try expect(login.message == "The email or the password is wrong", "the message of the request comes first")
        try expect(delete.message == "This no longer exists", "the message of the client is next")
        try expect(signup.message == "ursula@example.com already has an account", "the server's comes last")

        let post = Journal.posts.create(NewPost(text: "Who am I?")).authorized(nil)
        try await expectLogin("no token", post)
        try await expectLogin("old token", post.bearer("0123456789"))
    }

    private func expectLogin(_ name: String, _ request: APIRequest<Post>) async throws {
        let told = Mutex("")
        await api.call(request)
            .onSuccess { post in told.withLock { $0 = "post \(post.id) was created" } }
            .onNotAuthorized { told.withLock { $0 = "the app shows its login screen" } }
            .onError { error in told.withLock { $0 = error.message } }
            .execute()
            .value
        let end = told.withLock { $0 }
        show(name, end)
        try expect(end == "the app shows its login screen", "a request with \(name) ends in onNotAuthorized")
    }

    private func failure<Output>(of request: APIRequest<Output>) async throws -> PipelineError {
        do {
            _ = try await api.send(request)
        } catch let error as PipelineError {
            return error
        }
        throw Unexpected("expected \(request) to fail, but it succeeded")
    }

    private func readLog() throws {
        let token = session.accessToken ?? ""
        let basic = Data("\(email):\(password)".utf8).base64EncodedString()
        try expect(log.text.contains("POST") && log.text.contains("/auth/login"), "the log has the login request")
        try expect(
            !token.isEmpty && ![password, basic, token].contains { log.text.contains($0) },
            "the log hides passwords and tokens"
        )
    }

    private func switchEnvironment() async throws {
        heading("The same requests in another environment")
        let before = environments.current
        let posts = try await api.send(Journal.posts.list())
        // A token is valid only for the server that issued it.
        session.end()
        try environments.use(.testFlight)
        let others = try await api.send(Journal.posts.list())
        show(before.rawValue, "\(posts.count) post")
        show(environments.current.rawValue, "\(others.count) posts")
        try expect(posts.count == 1 && others.isEmpty, "each environment has its own posts")
    }
}

/// Returns bytes that are the same each time.
private func pattern(byteCount: Int) -> Data {
    Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31) })
}
