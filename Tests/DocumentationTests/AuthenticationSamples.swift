import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import TestSupport
import Testing

/// The samples of the guide Authentication for tokens and passwords.
enum AuthenticationSamples {
    // sample: target
    enum Shop: TargetType, AccessTokenAuthorizable {
        case items
        case orders

        var baseURL: URL { Endpoint.url("https://api.shop.example/v1") }
        var path: String {
            switch self {
            case .items: "items"
            case .orders: "orders"
            }
        }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
        var validationType: ValidationType { .successCodes }
        var authorizationType: AuthorizationType? {
            switch self {
            case .items: nil  // sent without a token
            case .orders: .bearer
            }
        }
    }
    // end

    struct Order: Decodable, Equatable {
        let id: Int
    }

    static func orders(_ transport: any Transport, token: String) async throws -> (Provider<Shop>, [Order]) {
        // sample: token
        let provider = Provider<Shop>(
            transport: transport,
            plugins: [.standard { AccessTokenPlugin { _ in token } }]
        )
        let orders = try await provider.request(.orders, as: [Order].self)
        // end
        return (provider, orders)
    }

    static func rejection(
        _ transport: any Transport,
        token: String,
        showLogin: @escaping @Sendable () async -> Void
    ) -> Provider<Shop> {
        // sample: rejection
        let provider = Provider<Shop>(
            transport: transport,
            plugins: [
                UnauthorizedPlugin { _, _ in await showLogin() },
                .standard { AccessTokenPlugin { _ in token } },
            ]
        )
        // end
        return provider
    }

    static func basic(_ transport: any Transport, password: String) -> Provider<URLTarget> {
        // sample: basic
        let basic = BasicAuthPlugin(username: "shop", password: password, scope: .hosts(["api.example.com"]))
        let client = Provider<URLTarget>(transport: transport, plugins: [.standard { basic }])
        // end
        return client
    }

    static func basicOnce(
        _ client: Provider<URLTarget>,
        _ target: URLTarget,
        name: String,
        password: String
    ) async throws -> PipelineResponse {
        // sample: basic once
        let options = RequestOptions { $0.basicAuth = PasswordCredential(username: name, password: password) }
        let response = try await client.request(target, options: options)
        // end
        return response
    }

    static func digest(_ transport: any Transport, password: String) -> Provider<URLTarget> {
        // sample: digest
        let credentials = CredentialsPlugin(scope: .hosts(["api.example.com"])) { challenge in
            guard challenge.realm == "reports" else { return nil }
            return PasswordCredential(username: "shop", password: password)
        }
        let client = Provider<URLTarget>(transport: transport, plugins: [.standard { credentials }])
        // end
        return client
    }

    static func auth(_ transport: any Transport, _ clock: ManualClock = ManualClock()) -> Provider<URLTarget> {
        // sample: retry
        let retry = RetryPlugin(policy: RetryPolicy(methods: RetryPolicy.idempotentMethods.union([.post])))
        // end
        return Provider(transport: transport, plugins: [retry], configuration: .init(clock: clock))
    }
}

@Suite("The guide Authentication", .watched)
struct AuthenticationGuideTests {
    private let transport = ScriptedTransport(always: .status(200, body: #"[{"id": 7}]"#))
    private let report = URLTarget("https://api.example.com/v1/reports/7")
    private let basic = "Basic " + Data("shop:key".utf8).base64EncodedString()

    private var authorizations: [String?] { transport.sent.map { $0.headers[.authorization] } }

    @Test("Only targets that ask for a token are sent with it")
    func token() async throws {
        let (provider, orders) = try await AuthenticationSamples.orders(transport, token: "2YotnFZFEjr1zCsicMWpAA")
        #expect(orders == [AuthenticationSamples.Order(id: 7)])
        _ = try await provider.request(.items)
        #expect(authorizations == ["Bearer 2YotnFZFEjr1zCsicMWpAA", nil])
    }

    @Test("A 401 shows the login once, and the call fails")
    func rejection() async throws {
        let (logins, shown) = AsyncStream.makeStream(of: String.self)
        let transport = ScriptedTransport([.status(401)])
        let provider = AuthenticationSamples.rejection(transport, token: "old") { shown.yield("login") }
        let error = await #expect(throws: PipelineError.self) { try await provider.request(.orders) }
        #expect(error?.status == .unauthorized)
        shown.finish()
        var count = 0
        for await _ in logins { count += 1 }
        #expect(count == 1)
    }

    @Test("BasicAuthPlugin sends its credential with each request, unless a call has its own")
    func basicCredential() async throws {
        let client = AuthenticationSamples.basic(transport, password: "key")
        _ = try await client.request(report)
        _ = try await AuthenticationSamples.basicOnce(client, report, name: "ann", password: "p")
        #expect(authorizations == [basic, "Basic " + Data("ann:p".utf8).base64EncodedString()])
    }

    @Test("CredentialsPlugin waits for a challenge, and sends the credential from the start after that")
    func challenge() async throws {
        let transport = ScriptedTransport([
            .status(401, headers: [.wwwAuthenticate: #"Basic realm="reports""#]), .status(200), .status(200),
        ])
        let client = AuthenticationSamples.digest(transport, password: "key")
        #expect(try await client.request(report).statusCode == 200)
        #expect(try await client.request(report).statusCode == 200)
        #expect(transport.sent.map { $0.headers[.authorization] } == [nil, basic, basic])
    }

    @Test("CredentialsPlugin chooses Digest if the server offers both schemes")
    func strongest() async throws {
        let challenges = #"Basic realm="reports", Digest realm="reports", nonce="n1", algorithm=SHA-256, qop="auth""#
        let transport = ScriptedTransport([.status(401, headers: [.wwwAuthenticate: challenges]), .status(200)])
        let client = AuthenticationSamples.digest(transport, password: "key")
        #expect(try await client.request(report).statusCode == 200)
        #expect(transport.sent.last?.headers[.authorization]?.hasPrefix("Digest ") == true)
    }

    @Test("CredentialsPlugin returns the 401 of another realm")
    func otherRealm() async throws {
        let transport = ScriptedTransport([.status(401, headers: [.wwwAuthenticate: #"Basic realm="other""#])])
        let client = AuthenticationSamples.digest(transport, password: "key")
        #expect(try await client.request(report).statusCode == 401)
        #expect(transport.sent.count == 1)
    }
}

@Suite("The guide Authentication, on refreshing tokens", .watched)
struct AuthenticationSamplesTests {
    @Test("A refresh is retried even though it is a POST")
    func renewal() async throws {
        let server = ScriptedTransport([
            .status(503), .status(200, body: #"{"accessToken": "new", "refreshToken": "s", "expiresIn": 600}"#),
        ])
        let clock = ManualClock()
        let auth = AuthenticationSamples.auth(server, clock)
        let expired = Login(accessToken: "old", refreshToken: "r", expiry: .distantPast)
        let renewal = Task { try await UserSession.renew(expired, with: auth) }
        try await clock.advanceToNextSleeper()
        #expect(try await renewal.value?.accessToken == "new")
        #expect(server.sent.map(\.method) == [.post, .post])
        #expect(server.sent.map(\.body.bytes) == Array(repeating: Data(#"{"refreshToken":"r"}"#.utf8), count: 2))
    }
}
