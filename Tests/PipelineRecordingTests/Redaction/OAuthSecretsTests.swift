import Foundation
import Pipeline
import PipelineAuth
import PipelineInspector
import PipelineRecording
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Secrets of OAuth", .watched)
struct OAuthSecretsTests {
    private static let secret = "canary:secret/4711"
    private static let code = "canary-code+0815="
    #if Crypto || canImport(CryptoKit)
    private static let dpop = DPoPPolicy.required
    #else
    private static let dpop = DPoPPolicy.disabled
    #endif
    private static var isKeyed: Bool { dpop != .disabled }

    private struct API: TargetType, AccessTokenAuthorizable {
        let baseURL: URL
        var path: String { "/items" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
        var authorizationType: AuthorizationType? { .bearer }
    }

    /// A store that remembers what was stored.
    private final class SpyingStore: CredentialStore {
        private let stored = Mutex<[Data]>([])
        private let store = MemoryCredentialStore()

        /// The tokens and keys of all credentials.
        var secrets: Set<String> {
            let objects = stored.withLock { $0 }.compactMap {
                try? JSONSerialization.jsonObject(with: $0) as? [String: Any]
            }
            let names = ["accessToken", "refreshToken", "key"]
            return Set(objects.flatMap { object in names.compactMap { object[$0] as? String } })
        }

        func load(_ key: String) -> Data? { store.load(key) }

        func save(_ credential: Data, for key: String) {
            stored.withLock { $0.append(credential) }
            store.save(credential, for: key)
        }

        func remove(_ key: String) { store.remove(key) }
    }

    private let folder: TemporaryFolder
    private let texts = ShownTexts()
    private let clock = ManualClock()
    private let store = SpyingStore()

    init() throws { folder = try TemporaryFolder() }

    private static func form(of request: PipelineRequest) -> [String: String] {
        let text = String(decoding: request.body.bytes ?? Data(), as: UTF8.self)
        let items = URLComponents(string: "?" + text)?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { $1 }
    }

    /// Responds with tokens, refuses the first and refuses to refresh a second time, and returns what was sent.
    private static func step(_ request: PipelineRequest, _ index: Int) -> ScriptedTransport.Step {
        let body = String(decoding: request.body.bytes ?? Data(), as: UTF8.self)
        let lines = request.headers.map { "\($0.name): \($0.value)" } + [body] + form(of: request).values
        let echo = lines.joined(separator: " ")
        let fields: HTTPFields = [.contentType: "application/json", .server: echo]
        if request.head.path == "/items" {
            return .status(index < 3 ? 401 : 200, headers: fields, body: #"{"message": "\#(echo)"}"#)
        }
        if index > 3 {
            let text = "\(request.headers[.authorization] ?? "") \(body)"
            let error = #"{"error": "invalid_request", "error_description": "\#(text)", "debug": "\#(echo)"}"#
            return .status(400, headers: fields, body: "\(error)")
        }
        let tokens = """
            {"access_token": "canary-access/\(index)+abc", "refresh_token": "canary-refresh/\(index)+abc",
             "token_type": "\(isKeyed ? "DPoP" : "Bearer")", "expires_in": 60, "message": "\(echo)"}
            """
        return .status(200, headers: fields, body: "\(tokens)")
    }

    @Test(
        "F06 nothing shows a secret, a code, a verifier, a token, a proof or a key, even if a server returns it",
        arguments: [OAuthClient.Authentication.basic, .post]
    )
    func secrets(authentication: OAuthClient.Authentication) async throws {
        let scripted = ScriptedTransport(Self.step)
        let file = folder.file("calls.har")
        let transport = try RecordingTransport(file, wrapping: scripted, mode: .recordAll)
        let inspector = InspectorPlugin(.file(folder.file("calls.html")))
        try await run(authentication, transport, inspector)
        let page = try await inspector.page()
        try await transport.finish()
        for url in [file, page] { texts.add(try String(contentsOf: url, encoding: .utf8), url.lastPathComponent) }

        #expect(scripted.sent.count == 5)
        #expect(store.secrets.count == (Self.isKeyed ? 5 : 4))
        let verifiers = scripted.sent.compactMap { Self.form(of: $0)["code_verifier"] }
        #expect(verifiers.count == 1)
        let proofs = scripted.sent.compactMap { $0.header("DPoP") }
        #expect(proofs.count == (Self.isKeyed ? 5 : 0))
        let encodedSecret = try #require(Self.secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        for value in [Self.secret, encodedSecret, Self.code] + store.secrets + verifiers + proofs {
            let places = texts.places(of: value)
            #expect(places == [], "\(value)")
        }
    }

    private func run(
        _ authentication: OAuthClient.Authentication,
        _ transport: RecordingTransport,
        _ inspector: InspectorPlugin
    ) async throws {
        let configuration = ProviderConfiguration(clock: clock, timeline: true)
        let lines = [LoggingPlugin.Form.lines, .curl, .summary].map { form in
            LoggingPlugin(level: .trace, form: form) { [texts] _, line in texts.add(line, "log") }
        }
        let auth = try #require(URL(string: "https://auth.test"))
        let client = OAuthClient.confidential(id: "re ports", secret: Self.secret, authentication: authentication)
        let redirect = try #require(URL(string: "myapp://callback"))
        let oauth = OAuthPlugin(
            OAuthServer(
                issuer: auth,
                authorizationEndpoint: auth.appending(path: "authorize"),
                tokenEndpoint: auth.appending(path: "token")
            ),
            client: client,
            grant: .authorizationCode(redirect: redirect) { opened in
                let items = URLComponents(url: opened, resolvingAgainstBaseURL: false)?.queryItems
                let state = URLQueryItem(name: "state", value: items?.first { $0.name == "state" }?.value)
                var result = URLComponents(url: redirect, resolvingAgainstBaseURL: false)
                result?.queryItems = [URLQueryItem(name: "code", value: Self.code), state]
                return result?.url ?? redirect
            },
            store: store,
            dpop: Self.dpop,
            transport: transport,
            plugins: [inspector] + lines,
            configuration: configuration
        )
        let plugins: [any PluginType] = [inspector] + lines + [oauth]
        let provider = Provider<API>(transport: transport, plugins: plugins, configuration: configuration)
        let api = API(baseURL: try #require(URL(string: "https://api.test")))
        try await clock.run {
            try await oauth.signIn()
            let response = try await provider.request(api)
            texts.addForms(of: response)
            texts.addForms(of: try #require(response.timeline))
            texts.add(response.request.curlCommand())
            try await clock.sleep(for: .seconds(3_600))
            let error = await #expect(throws: PipelineError.self) { try await provider.request(api) }
            if let error { texts.add(error) }
            #expect(error?.underlyingError is PipelineError)
        }
        for value in [client, oauth, provider] as [Any] { texts.addForms(of: value) }
    }
}
