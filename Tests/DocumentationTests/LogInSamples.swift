import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import TestSupport
import Testing

#if canImport(AuthenticationServices)
import AuthenticationServices
#endif

/// The samples of the guide Authentication for OAuth.
enum LogInSamples {
    enum Reports: TargetType, AccessTokenAuthorizable {
        case list

        var baseURL: URL { URL(string: "https://api.example.com") ?? URL(filePath: "/") }
        var path: String { "/reports" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
        var authorizationType: AuthorizationType? { .bearer }
    }

    static func server(_ issuer: URL, _ secret: String, _ transport: any Transport) -> Provider<Reports> {
        // sample: credentials
        let oauth = OAuthPlugin(
            .discovered(at: issuer),
            client: .confidential(id: "reports", secret: secret),
            grant: .clientCredentials(scopes: ["read"]),
            transport: transport
        )
        let provider = Provider<Reports>(transport: transport, plugins: [.standard { oauth }])
        // end
        return provider
    }

    static func tool(
        _ issuer: URL,
        _ transport: any Transport,
        _ file: URL,
        _ openBrowser: @escaping @Sendable (URL) async throws -> Void
    ) async throws -> OAuthPlugin {
        // sample: tool
        let oauth = OAuthPlugin(
            .discovered(at: issuer),
            client: .public(id: "reports-cli"),
            grant: .authorizationCode(scopes: ["read"]) { url in
                try await openBrowser(url)
            },
            store: FileCredentialStore(file),
            transport: transport
        )
        if try await !oauth.isSignedIn { try await oauth.signIn() }
        // end
        return oauth
    }

    static func device() -> OAuthGrant {
        // sample: device
        let grant = OAuthGrant.device(scopes: ["read"]) { code in
            print("Open \(code.verificationURL) and enter \(code.userCode)")
        }
        // end
        return grant
    }

    static func end(_ provider: Provider<Reports>) async throws {
        // sample: signOut
        try await provider.signOut()
        // end
    }
}

#if canImport(AuthenticationServices) && !os(tvOS)
extension LogInSamples {
    // sample: app
    @MainActor
    static func browse(_ url: URL, _ anchor: any ASWebAuthenticationPresentationContextProviding) async throws -> URL {
        let (callbacks, done) = AsyncThrowingStream<URL, any Error>.makeStream()
        let session = ASWebAuthenticationSession(url: url, callback: .customScheme("myapp")) { @Sendable url, error in
            if let url { done.yield(url) }
            done.finish(throwing: error)
        }
        session.presentationContextProvider = anchor
        guard session.start() else { throw ASWebAuthenticationSessionError(.presentationContextInvalid) }
        defer { session.cancel() }
        for try await callback in callbacks { return callback }
        throw CancellationError()
    }
    // end
}
#endif

@Suite("The samples of the guide Authentication for OAuth", .watched)
struct LogInSamplesTests {
    @Test("The sample of a server sends the token that it obtained")
    func server() async throws {
        let issuer = try #require(URL(string: "https://auth.example.com"))
        let transport = ScriptedTransport { request, _ in
            switch request.path {
            case "/token": .status(200, body: #"{"access_token": "t", "token_type": "Bearer", "expires_in": 60}"#)
            case "/reports": .status(request.headers[.authorization] == "Bearer t" ? 200 : 401)
            default:
                .status(
                    200,
                    body: #"{"issuer": "https://auth.example.com", "token_endpoint": "https://auth.example.com/token"}"#
                )
            }
        }
        let provider = LogInSamples.server(issuer, "secret", transport)
        #expect(try await provider.request(.list).statusCode == 200)
        try await LogInSamples.end(provider)
    }

    @Test("A server without metadata needs only its token endpoint for client credentials")
    func tokenEndpoint() async throws {
        let transport = ScriptedTransport([
            .status(200, body: #"{"access_token": "t", "token_type": "Bearer", "expires_in": 60}"#), .status(200),
        ])
        let oauth = OAuthPlugin(
            OAuthServer(tokenEndpoint: Endpoint.url("https://auth.example.com/token")),
            client: .confidential(id: "reports", secret: "secret"),
            grant: .clientCredentials(),
            transport: transport
        )
        let provider = Provider<LogInSamples.Reports>(transport: transport, plugins: [.standard { oauth }])
        #expect(try await provider.request(.list).statusCode == 200)
        #expect(transport.sent.map(\.path) == ["/token", "/reports"])
        #expect(transport.sent.last?.headers[.authorization] == "Bearer t")
    }

    @Test("The sample of a tool throws if the browser cannot be opened")
    func tool() async throws {
        struct NoBrowser: Error {}
        let issuer = try #require(URL(string: "https://auth.example.com"))
        let metadata = #"""
            {"issuer": "https://auth.example.com", "authorization_endpoint": "https://auth.example.com/authorize",
             "token_endpoint": "https://auth.example.com/token"}
            """#
        let file = FileManager.default.temporaryDirectory.appending(path: "pipeline-log-in-\(UUID().uuidString).json")
        await #expect(throws: NoBrowser.self) {
            _ = try await LogInSamples.tool(issuer, ScriptedTransport(always: .status(200, body: metadata)), file) {
                _ in
                throw NoBrowser()
            }
        }
    }
}
