import Foundation
import Pipeline
import PipelineAuth
import PipelineRecording
import PipelineReplayTesting
import PipelineTesting
import TestSupport
import Testing

/// The samples of the guide Recording.
@Suite("Samples of recordings", .watched)
enum RecordingSamples {
    enum GitHub: TargetType {
        case zen
        case search(page: Int)

        var baseURL: URL { Endpoint.url("https://api.github.example") }
        var path: String {
            switch self {
            case .zen: "zen"
            case .search(let page): "search/\(page)"
            }
        }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
    }

    private static let redactor = Redactor.standard.adding(secretValues: ["4f1c9a8b"])

    private static func makeProvider(
        transport: any Transport,
        configuration: ProviderConfiguration = .init()
    ) -> Provider<GitHub> {
        Provider(transport: transport, configuration: configuration)
    }

    struct Tests {
        // sample: test
        @Test("The zen of GitHub is a sentence", .replay("github"))
        func zen() async throws {
            let provider = makeProvider(transport: .replay)
            #expect(try await provider.request(.zen).mapString().hasSuffix("."))
        }
        // end

        // sample: settings
        @Test(
            "The zen of GitHub is a sentence at any time",
            .replay(
                "github",
                matching: .standard.ignoring(query: ["ts"]),
                failsOnUnusedEntries: true,
                redactor: redactor
            )
        )
        func zenAtAnyTime() async throws {
            let provider = makeProvider(transport: .replay, configuration: .replay)
            #expect(try await provider.request(.zen).mapString().hasSuffix("."))
        }
        // end

        // sample: login
        @Test("The test account has orders", .replay("orders"))
        @MainActor
        func orders() async throws {
            let session = UserSession(transport: .replay, store: MemoryCredentialStore())
            let password = ProcessInfo.processInfo.environment["SHOP_PASSWORD"] ?? "any"
            try await session.signIn(user: "ann", password: password)
            let shop = Provider<Shop>(transport: .replay, plugins: [.standard { session.tokens }])
            #expect(try await shop.request(.orders, as: [Order].self).isEmpty == false)
        }
        // end
    }

    @Test("The guide shows the error of a request that matches no entry")
    static func noMatch() async throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Replays/github.har")
        let guide = file.appending(path: "../../../../Documentation/Recording.md").standardizedFileURL
        let target = URLTarget("https://api.github.example/zen?ts=1792500000")
        let error = await #expect(throws: PipelineError.self) {
            try await Provider<URLTarget>(transport: ReplayTransport(file)).request(target)
        }
        let text = "\(try #require(error))".replacing("github.example", with: "github.com")
        let page = try String(contentsOf: guide, encoding: .utf8)
        let isShown = page.contains("```text\n\(text)\n```")
        #expect(isShown, "the guide does not show:\n\(text)")
    }

    static func zen() async throws -> String {
        // sample: function
        let zen = try await withReplay("github") { transport in
            try await makeProvider(transport: transport).request(.zen).mapString()
        }
        // end
        return zen
    }

    @Test("The function replays the same recording as the trait")
    static func function() async throws {
        #expect(try await zen().hasSuffix("."))
    }

    static func record(_ file: URL, with transport: any Transport) async throws {
        // sample: record
        let recorder = try RecordingTransport(file, wrapping: transport, mode: .recordNew)
        let provider = makeProvider(transport: recorder)
        print(try await provider.request(.zen).mapString())
        try await recorder.finish()
        // end
    }

    static func replay(_ file: URL) async throws {
        // sample: replay
        let replay = try ReplayTransport(file, atEnd: .repeatLast)
        let provider = makeProvider(transport: replay)
        print(try await provider.request(.zen).mapString())
        try replay.recording.assertAllUsed()
        // end
    }

    static func matching(_ file: URL) throws -> ReplayTransport {
        // sample: matching
        let matching = RequestMatching.standard.ignoring(query: ["ts"]).ignoring(body: ["nonce"]) + [.header(.accept)]
        // end
        return try ReplayTransport(file, matching: matching)
    }

    static func secrets(_ file: URL, clientSecret: String) throws -> RecordingTransport {
        // sample: secrets
        let redactor = Redactor.standard.adding(secretValues: [clientSecret]).adding(plainNames: ["theme"])
        // end
        return try RecordingTransport(file, wrapping: URLSessionTransport(), redactor: redactor)
    }

    @Test("A login is recorded with the calls that use its token, and replayed with any password")
    static func login() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("login.har")
        func title(_ password: String, _ transport: any Transport) async throws -> String {
            let provider = Provider<URLTarget>(transport: transport)
            let login = ["user": "ann", "password": password]
            let answer = try await provider.request(
                URLTarget("https://library.example/login", method: .post, task: .requestJSONEncodable(login))
            )
            let token = try answer.map([String: String].self)["access_token"] ?? ""
            let book = URLTarget("https://library.example/books/3", headers: ["Authorization": "Bearer \(token)"])
            return try await provider.request(book).mapString()
        }
        let login = #"{"access_token": "4f1c9a8b7d6e5f40"}"#
        let script = ScriptedTransport([.status(200, body: login), .status(200, body: "Eden")])
        let recorder = try RecordingTransport(file, wrapping: script, mode: .recordAll)
        #expect(try await title("correct horse", recorder) == "Eden")
        try await recorder.finish()
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains("4f1c9a8b7d6e5f40") && !text.contains("correct horse"))
        #expect(try await title("none", ReplayTransport(file)) == "Eden")
        let error = await #expect(throws: PipelineError.self) { try await title("", ReplayTransport(file)) }
        #expect(error?.code == .recording(.noMatch))
    }

    static func time(_ file: URL) throws -> ReplayTransport {
        // sample: time
        let expiry = RecordingExpiry.after(.seconds(90 * 86_400), .warn { print("\($0) is old") })
        let replay = try ReplayTransport(file, pace: .scaled(0.1), expiry: expiry)
        // end
        return replay
    }
}
