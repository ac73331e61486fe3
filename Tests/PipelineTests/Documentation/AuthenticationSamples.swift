import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineTesting
import Testing

/// The samples of the guide Authentication.
enum AuthenticationSamples {
    // sample: login
    struct Login: TokenCredential, Codable {
        let accessToken: String
        let expiry: Date?
        let refreshToken: String
    }
    // end

    actor Keychain {
        private(set) var login: Login?

        init(_ login: Login) { self.login = login }

        func store(_ login: Login?) { self.login = login }
    }

    static func tokens(
        _ keychain: Keychain,
        _ auth: Provider<URLTarget>,
        showLogin: @escaping @Sendable () async -> Void
    ) async -> (TokenRefreshPlugin<Login>, PluginStack) {
        // sample: tokens
        let tokens = TokenRefreshPlugin(credential: await keychain.login) { login, change in
            await keychain.store(login)
            if change == .sessionEnd { Task { await showLogin() } }
        } refresh: { expired, _ in
            try await renew(expired, with: auth)
        }
        let plugins = PluginStack.standard { tokens }
        // end
        return (tokens, plugins)
    }

    // sample: renew
    static func renew(_ expired: Login, with auth: Provider<URLTarget>) async throws -> Login? {
        let body = ["refreshToken": expired.refreshToken]
        do {
            return try await auth.send(body, to: "https://api.example.com/v1/token", as: Login.self)
        } catch let error as PipelineError where error.status == .badRequest {
            return nil  // the server does not accept the refresh token any more
        }
    }
    // end

    static func auth(_ transport: any Transport, _ clock: ManualClock = ManualClock()) -> Provider<URLTarget> {
        // sample: retry
        let retry = RetryPlugin(policy: RetryPolicy(methods: RetryPolicy.idempotentMethods.union([.post])))
        // end
        return Provider(transport: transport, plugins: [retry], configuration: .init(clock: clock))
    }
}

@Suite("The samples of the guide Authentication")
struct AuthenticationSamplesTests {
    private let keychain = AuthenticationSamples.Keychain(
        AuthenticationSamples.Login(accessToken: "old", expiry: .distantPast, refreshToken: "r")
    )
    private let target = {
        var target = URLTarget("https://api.example.com/v1/posts")
        target.authorizationType = .bearer
        return target
    }()

    @Test("An ended session is removed from the keychain, and the login is shown once")
    func sessionEnd() async throws {
        let auth = AuthenticationSamples.auth(ScriptedTransport(always: .status(400)))
        let (logins, shown) = AsyncStream.makeStream(of: String.self)
        let (tokens, plugins) = await AuthenticationSamples.tokens(keychain, auth) { shown.yield("login") }
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<URLTarget>(transport: transport, plugins: [plugins])
        let error = await #expect(throws: PipelineError.self) { try await provider.request(target) }
        #expect(error?.code == .sessionEnded)
        #expect(transport.sent.isEmpty)
        var iterator = logins.makeAsyncIterator()
        #expect(await iterator.next() == "login")
        #expect(await keychain.login == nil)
        let login = AuthenticationSamples.Login(accessToken: "new", expiry: nil, refreshToken: "s")
        await tokens.setCredential(login)
        #expect(try await provider.request(target).statusCode == 200)
        #expect(transport.sent.map { $0.headers[.authorization] } == ["Bearer new"])
        shown.finish()
        #expect(await iterator.next() == nil)
    }

    @Test("A refresh is retried even though it is a POST, and its tokens are stored")
    func renewal() async throws {
        let server = ScriptedTransport([
            .status(503), .status(200, body: #"{"accessToken": "new", "refreshToken": "s"}"#),
        ])
        let clock = ManualClock()
        let auth = AuthenticationSamples.auth(server, clock)
        let (_, plugins) = await AuthenticationSamples.tokens(keychain, auth) {}
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<URLTarget>(transport: transport, plugins: [plugins])
        let call = Task { try await provider.request(target).statusCode }
        await clock.advanceToNextSleeper()
        #expect(try await call.value == 200)
        #expect(transport.sent.map { $0.headers[.authorization] } == ["Bearer new"])
        #expect(server.sent.map(\.method) == [.post, .post])
        #expect(server.sent.map(\.body.bytes) == Array(repeating: Data(#"{"refreshToken":"r"}"#.utf8), count: 2))
        #expect(await keychain.login?.refreshToken == "s")
    }
}
