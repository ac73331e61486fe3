import Foundation
import Pipeline
import PipelineAuth
import Synchronization
import TestSupport
import Testing

@Suite("httpbin: authentication", .besideHTTPBin, .realTime, .watched)
struct AuthenticationTests {
    private enum Account: HTTPBinTarget, AccessTokenAuthorizable {
        case basic(user: String, password: String)
        case hiddenBasic(user: String, password: String)
        case bearer
        case digest
        case digestWith(String)
        case open

        var path: String {
            switch self {
            case .basic(let user, let password): "/basic-auth/\(user)/\(password)"
            case .hiddenBasic(let user, let password): "/hidden-basic-auth/\(user)/\(password)"
            case .bearer: "/bearer"
            case .digest: "/digest-auth/auth/user/passwd"
            case .digestWith(let end): "/digest-auth/\(end)"
            case .open: "/headers"
            }
        }

        var authorizationType: AuthorizationType? {
            switch self {
            case .basic, .hiddenBasic: .basic
            case .bearer: .bearer
            case .digest, .digestWith, .open: nil
            }
        }
    }

    private struct Answer: Decodable {
        let authenticated: Bool
        let user: String?
        let token: String?
    }

    private func makeProvider(_ token: String? = nil) -> Provider<Account> {
        Provider(
            plugins: token.map { token in [AccessTokenPlugin { _ in token }] } ?? []
        )
    }

    private func basic(_ user: String, _ password: String) -> String {
        Data("\(user):\(password)".utf8).base64EncodedString()
    }

    @Test(
        "Basic authentication succeeds with the right password",
        arguments: [("user", "passwd"), ("a@b.c", "p w+d%21"), ("Zoë", "pässword")]
    )
    func basicAccepted(user: String, password: String) async throws {
        let path = (user, password.replacing("%", with: "%25"))
        for target in [Account.basic(user: path.0, password: path.1), .hiddenBasic(user: path.0, password: path.1)] {
            let answer = try await makeProvider(basic(user, password)).request(target, as: Answer.self)
            #expect(answer.authenticated)
            #expect(answer.user == user)
        }
    }

    @Test("a 401 is a response, with and without credentials", arguments: [nil, "dXNlcjp3cm9uZw=="])
    func basicRefused(token: String?) async throws {
        let provider = makeProvider(token)
        let response = try await provider.request(.basic(user: "user", password: "passwd"))
        #expect(response.statusCode == 401)
        #expect(response.headers[.wwwAuthenticate] == #"Basic realm="Fake Realm""#)
        #expect(response.exchanges.count == 1)
        #expect(try await provider.request(.hiddenBasic(user: "user", password: "passwd")).statusCode == 404)
    }

    @Test("Bearer sends the token, over cleartext to a loopback address")
    func bearer() async throws {
        let token = "mF_9.B5f-4.1JqM~+/=="
        let answer = try await makeProvider(token).request(.bearer, as: Answer.self)
        #expect(answer.authenticated)
        #expect(answer.token == token)
        let refused = try await makeProvider().request(.bearer)
        #expect(refused.statusCode == 401)
        #expect(refused.headers[.wwwAuthenticate] == "Bearer")
    }

    @Test("a target that does not ask for a token gets none")
    func notAsked() async throws {
        let response = try await makeProvider("t0ken").request(.open)
        #expect(throws: PipelineError.self) { try response.mapString(atKeyPath: "headers.Authorization") }
    }

    @Test("a Digest challenge is a response, with its cookies")
    func digest() async throws {
        let response = try await makeProvider().request(.digest)
        #expect(response.statusCode == 401)
        #expect(response.headers[.wwwAuthenticate]?.hasPrefix("Digest realm=") == true)
        #expect(response.headers[values: .setCookie].count == 2)
        #expect(response.exchanges.count == 1)
    }

    @Test(
        "BasicAuthPlugin succeeds with the right password",
        arguments: [("user", "passwd"), ("a@b.c", "p w+d%21"), ("Zoë", "pässword")]
    )
    func basicAuthPlugin(user: String, password: String) async throws {
        let plugin = BasicAuthPlugin { target in
            guard case .hiddenBasic? = target as? Account else { return nil }
            return .init(username: user, password: password)
        }
        let provider = Provider<Account>(plugins: [plugin])
        let escaped = password.replacing("%", with: "%25")
        let answer = try await provider.request(.hiddenBasic(user: user, password: escaped), as: Answer.self)
        #expect(answer.user == user)
        let options = RequestOptions { $0.basicAuth = .init(username: user, password: password) }
        let optional = Provider<Account>(plugins: [BasicAuthPlugin()])
        #expect(try await optional.request(.basic(user: user, password: escaped), options: options).statusCode == 200)
        #expect(try await optional.request(.basic(user: user, password: escaped)).statusCode == 401)
    }

    @Test(
        "CredentialsPlugin answers a Digest challenge",
        arguments: ["auth/user/passwd", "auth/user/passwd/MD5", "auth/user/passwd/SHA-256", "auth/user/passwd/MD5/1"]
    )
    func digestAnswered(end: String) async throws {
        let provider = makeProvider("user", "passwd")
        for _ in 1...3 {
            let answer = try await provider.request(.digestWith(end), as: Answer.self)
            #expect(answer.authenticated)
            #expect(answer.user == "user")
        }
    }

    @Test("CredentialsPlugin returns the 401 of a challenge that it cannot answer")
    func digestNotAnswered() async throws {
        for end in ["auth-int/user/passwd/MD5", "auth/user/passwd/SHA-512"] {
            let response = try await makeProvider("user", "passwd").request(.digestWith(end))
            #expect(response.statusCode == 401)
            #expect(response.exchanges.count == 1)
        }
        let refused = try await makeProvider("user", "wrong").request(.digestWith("auth/user/passwd"))
        #expect(refused.statusCode == 401)
        #expect(refused.exchanges.count == 2)
    }

    @Test("CredentialsPlugin answers a Basic challenge, and then sends Basic preemptively")
    func basicAnswered() async throws {
        let provider = makeProvider("user", "passwd")
        for count in [2, 1] {
            let response = try await provider.request(.basic(user: "user", password: "passwd"))
            #expect(response.statusCode == 200)
            #expect(response.exchanges.count == count)
        }
    }

    @Test("UnauthorizedPlugin reports only a 401 that remains")
    func unauthorized() async throws {
        let told = Mutex<[Int]>([])
        let plugin = UnauthorizedPlugin { response, _ in told.withLock { $0.append(response?.exchanges.count ?? 0) } }
        for password in ["passwd", "wrong"] {
            let credentials = CredentialsPlugin { _ in .init(username: "user", password: password) }
            let provider = Provider<Account>(plugins: [plugin, credentials])
            _ = try await provider.request(.digest)
        }
        #expect(told.withLock { $0 } == [2])
    }

    private func makeProvider(_ user: String, _ password: String) -> Provider<Account> {
        let plugin = CredentialsPlugin { _ in .init(username: user, password: password) }
        return Provider(plugins: [plugin])
    }

    @Test("the token stays on its origin")
    func redirected() async throws {
        struct Leaving: HTTPBinTarget, AccessTokenAuthorizable {
            let end: String
            var path: String { "/redirect-to" }
            var task: RequestTask { .requestParameters(parameters: ["url": end], encoding: URLEncoding.default) }
            var authorizationType: AuthorizationType? { .bearer }
        }
        let provider = Provider<Leaving>(
            plugins: [AccessTokenPlugin { _ in "t0ken" }]
        )
        #expect(try await provider.request(Leaving(end: "/bearer")).statusCode == 200)
        #expect(try await provider.request(Leaving(end: HTTPBin.otherOrigin + "/bearer")).statusCode == 401)
    }
}
