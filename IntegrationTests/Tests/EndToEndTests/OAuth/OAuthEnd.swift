import Foundation
import Pipeline
import PipelineAuth
import Testing

/// The server that `scripts/oauth-server` starts.
enum OAuthEnd {
    /// The server's address, or `nil` in a plain `swift test`.
    static let address = ProcessInfo.processInfo.environment["OAUTH_URL"]

    static func url(_ path: String) -> URL { URL(string: (address ?? "http://127.0.0.1") + path) ?? URL(filePath: "/") }

    static let issuer = url("/tenant")

    static let transport = NetworkEnd.transport

    /// A clock on which a second passes in 20 ms.
    static let fast = ProviderConfiguration(clock: FastClock())

    struct Items: Decodable {
        let scheme: String
        let token: String
    }

    enum API: TargetType, AccessTokenAuthorizable {
        case items
        case expire(String)

        var baseURL: URL { OAuthEnd.url("/api") }
        var path: String { if case .items = self { "/items" } else { "/expire" } }
        var method: HTTPMethod { .get }
        var task: RequestTask {
            if case .expire(let token) = self {
                .requestParameters(parameters: ["token": token], encoding: URLEncoding.default)
            } else {
                .requestPlain
            }
        }
        var validationType: ValidationType { .successCodes }
        var authorizationType: AuthorizationType? { if case .items = self { .bearer } else { nil } }
    }

    struct Page: TargetType {
        let baseURL: URL
        var path: String { "" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
    }

    /// Opens a page as a browser does, but returns a redirect in place of following it.
    static func open(_ url: URL) async throws -> (status: Int, location: URL?) {
        var configuration = ProviderConfiguration()
        configuration.redirects = .never
        let provider = Provider<Page>(transport: transport, configuration: configuration)
        let response = try await provider.request(Page(baseURL: url))
        return (response.statusCode, response.headers[.location].flatMap { URL(string: $0) })
    }

    /// Returns a plugin for the server whose metadata names its endpoints.
    static func plugin(
        _ grant: OAuthGrant,
        _ client: OAuthClient = .public(id: "cli"),
        at server: OAuthServer = .discovered(at: issuer),
        store: any CredentialStore = MemoryCredentialStore(),
        dpop: DPoPPolicy = .disabled,
        plugins: [any PluginType] = [],
        configuration: ProviderConfiguration = ProviderConfiguration()
    ) -> OAuthPlugin {
        OAuthPlugin(
            server,
            client: client,
            grant: grant,
            store: store,
            dpop: dpop,
            transport: transport,
            plugins: plugins,
            configuration: configuration
        )
    }

    static func provider(_ plugins: any PluginType...) -> Provider<API> {
        Provider(transport: transport, plugins: plugins)
    }

    /// The grant of a command-line tool; the browser follows the redirect to the loopback address.
    static let loopback = OAuthGrant.authorizationCode(scopes: ["read"]) { url in
        let callback = try #require(try await open(url).location)
        #expect(try await open(callback).status == 200)
    }

    /// The grant of an app, whose browser returns the redirect.
    static func app(_ change: @escaping @Sendable (URL) -> URL = { $0 }) -> OAuthGrant {
        .authorizationCode(redirect: URL(string: "myapp://callback") ?? issuer, scopes: ["read"]) { url in
            change(try #require(try await open(url).location))
        }
    }

    /// Returns the error of a sign-in, and the code that the server gave for it.
    static func failure(_ work: () async throws -> Void) async -> (code: PipelineError.Code?, error: String?) {
        do {
            try await work()
            return (nil, nil)
        } catch {
            let failure = error as? PipelineError
            return (failure?.code, (failure?.underlyingError as? OAuthServerError)?.error)
        }
    }
}

/// The transport of the tests.
private enum NetworkEnd {
    static let transport: any Transport = AsyncHTTPClientTransport()
}

/// A clock on which a second passes in 20 ms.
struct FastClock: Clock {
    typealias Instant = ContinuousClock.Instant

    private static let factor = 50
    private let origin = ContinuousClock.now

    var now: Instant { origin + origin.duration(to: .now) * Self.factor }
    var minimumResolution: Duration { .milliseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: .now + now.duration(to: deadline) / Self.factor)
    }
}

extension Trait where Self == ConditionTrait {
    /// Runs a suite only if there is a server.
    static var besideOAuthServer: Self {
        .enabled(if: OAuthEnd.address != nil, "scripts/oauth-server sets OAUTH_URL")
    }
}
