import Foundation
import Pipeline
import PipelineTesting
import Synchronization

@testable import PipelineAuth

/// An authorization server and an API in one scripted transport, in virtual time.
///
/// By default it issues `CANARY-access-1`, `CANARY-refresh-1` and so on for an hour, and the API accepts every token.
final class OAuthBench: Sendable {
    /// A request that the bench received.
    struct Received: Sendable {
        let url: String
        let form: [String: String]
        let headers: HTTPFields
        let second: Double

        var path: String { URL(string: url)?.path() ?? "" }
    }

    typealias Answer = @Sendable (_ request: Received, _ number: Int) -> ScriptedTransport.Step?

    enum Items: TargetType, AccessTokenAuthorizable {
        case list
        case open

        var baseURL: URL { URL(string: "https://api.test") ?? URL(filePath: "/") }
        var path: String { "/items" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
        var validationType: ValidationType { .successCodes }
        var authorizationType: AuthorizationType? { self == .list ? .bearer : nil }
    }

    static let issuer = url("https://auth.test/tenant")
    static let server = OAuthServer(
        issuer: issuer,
        authorizationEndpoint: url("https://auth.test/authorize?audience=api"),
        tokenEndpoint: url("https://auth.test/token"),
        deviceAuthorizationEndpoint: url("https://auth.test/device"),
        revocationEndpoint: url("https://auth.test/revoke")
    )
    /// The key of the session of a user of the public client.
    static let storeKey = "24 https://auth.test/tenant 3 cli 7 default 4 user"
    static let confidential = OAuthClient.confidential(id: "re ports", secret: "CANARY:secret")

    static func url(_ text: String) -> URL { URL(string: text) ?? URL(filePath: "/") }

    let clock = ManualClock()
    let store = MemoryCredentialStore()
    private let start: PipelineClock.Instant
    private let answer: Answer
    private let log = Mutex<[Received]>([])

    init(_ answer: @escaping Answer = { _, _ in nil }) {
        self.answer = answer
        start = PipelineClock(clock).now
    }

    var configuration: ProviderConfiguration { ProviderConfiguration(clock: clock, timeline: true) }

    var received: [Received] { log.withLock { $0 } }

    /// The forms that the token endpoint received.
    var tokenForms: [[String: String]] { received.filter { $0.path == "/token" }.map(\.form) }

    /// The tokens that were revoked.
    var revoked: [String?] { received.filter { $0.path == "/revoke" }.map { $0.form["token"] } }

    /// The values of Authorization that the API received.
    var authorizations: [String?] { received.filter { $0.path == "/items" }.map { $0.headers[.authorization] } }

    var transport: ScriptedTransport {
        ScriptedTransport { [self] request, _ in step(request) }
    }

    func plugin(
        _ server: OAuthServer = OAuthBench.server,
        client: OAuthClient = .public(id: "cli"),
        grant: OAuthGrant = .clientCredentials(scopes: ["read", "write"]),
        store: (any CredentialStore)? = nil,
        onStoreFailure: (@Sendable (any Error) -> Void)? = nil,
        dpop: DPoPPolicy = .disabled,
        plugins: [any PluginType] = []
    ) -> OAuthPlugin {
        OAuthPlugin(
            server,
            client: client,
            grant: grant,
            store: store ?? self.store,
            onStoreFailure: onStoreFailure,
            dpop: dpop,
            transport: transport,
            plugins: plugins,
            configuration: configuration
        )
    }

    func provider(_ plugins: any PluginType...) -> Provider<Items> {
        Provider(transport: transport, plugins: plugins, configuration: configuration)
    }

    private func step(_ request: PipelineRequest) -> ScriptedTransport.Step {
        let items = FormText.items(of: String(decoding: request.body.bytes ?? Data(), as: UTF8.self))
        let received = Received(
            url: request.url?.absoluteString ?? "",
            form: Dictionary(items.map { ($0.name, $0.value) }) { $1 },
            headers: request.headers,
            second: start.duration(to: PipelineClock(clock).now) / .seconds(1)
        )
        let number = log.withLock { log in
            log.append(received)
            return log.count { $0.path == received.path }
        }
        if let step = answer(received, number) { return step }
        switch received.path {
        case "/token": return Self.tokens(number)
        case "/items", "/revoke": return .status(200)
        case "/device":
            return .status(
                200,
                body: #"""
                    {"device_code": "CANARY-device", "user_code": "CANARY-user", "expires_in": 60,
                     "verification_uri": "https://auth.test/activate"}
                    """#
            )
        default: return .status(404)
        }
    }

    static func tokens(_ number: Int, type: String = "Bearer", expiresIn: Int = 3_600) -> ScriptedTransport.Step {
        .status(
            200,
            body: """
                {"access_token": "CANARY-access-\(number)", "token_type": "\(type)", "expires_in": \(expiresIn),
                 "refresh_token": "CANARY-refresh-\(number)"}
                """
        )
    }

    static func failure(_ error: String, _ status: Int = 400, headers: HTTPFields = [:]) -> ScriptedTransport.Step {
        .status(status, headers: headers, body: #"{"error": "\#(error)"}"#)
    }

    /// Signs in with an authorization code that a browser returns at once.
    static func browser(
        _ query: @escaping @Sendable (String) async -> String = { "code=CANARY-code&state=\($0)" }
    ) -> OAuthGrant {
        .authorizationCode(redirect: url("myapp://callback"), scopes: ["read"]) { opened in
            let items = FormText.items(of: opened.query(percentEncoded: true) ?? "")
            return await url("myapp://callback?" + query(items.first { $0.name == "state" }?.value ?? ""))
        }
    }
}

/// Runs a call and returns the error that it throws.
func oauthError(_ work: () async throws -> Void) async -> PipelineError? {
    do {
        try await work()
        return nil
    } catch {
        return error as? PipelineError
    }
}
