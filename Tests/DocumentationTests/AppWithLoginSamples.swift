import Foundation
import Observation
import Pipeline
import PipelineAuth
import PipelineTesting
import TestSupport
import Testing

private typealias Shop = AuthenticationSamples.Shop

// sample: login
nonisolated struct Login: TokenCredential, Codable {
    let accessToken: String
    let refreshToken: String
    let expiry: Date?
}
// end

// sample: session
@MainActor
@Observable
final class UserSession {
    enum State { case unknown, signedOut, signedIn, expired }

    private(set) var state = State.unknown
    @ObservationIgnored let tokens: TokenRefreshPlugin<Login>
    private let auth: Provider<URLTarget>
    private let store: any CredentialStore

    init(transport: any Transport, store: any CredentialStore) {
        let auth = Provider<URLTarget>(transport: transport, plugins: [.standard])
        self.auth = auth
        self.store = store
        tokens = TokenRefreshPlugin(credential: nil) { login, _ in
            await Self.save(login, in: store)
        } refresh: { expired, _ in
            try await Self.renew(expired, with: auth)
        }
    }

    func signIn(user: String, password: String) async throws {
        let body = ["user": user, "password": password]
        let url = "https://api.shop.example/v1/login"
        await tokens.setCredential(try await auth.send(body, to: url, as: Login.self))
    }

    func signOut() async { await tokens.setCredential(nil) }

    /// Restores the login of an earlier run, and then follows the session until the task is cancelled.
    func follow() async {
        let data = try? await store.load("login")
        if let login = data.flatMap({ try? JSONDecoder().decode(Login.self, from: $0) }) {
            await tokens.setCredential(login)
        }
        for await change in tokens.changes {
            if change.credential != nil {
                state = .signedIn
            } else {
                state = change.reason == .sessionEnd ? .expired : .signedOut
            }
        }
    }
}
// end

// sample: functions
extension UserSession {
    nonisolated static func save(_ login: Login?, in store: any CredentialStore) async {
        do {
            if let login {
                try await store.save(JSONEncoder().encode(login), for: "login")
            } else {
                try await store.remove("login")
            }
        } catch {
            print("the login could not be stored:", error)  // it is in use, but not after a restart
        }
    }

    nonisolated static func renew(_ expired: Login, with auth: Provider<URLTarget>) async throws -> Login? {
        let body = ["refreshToken": expired.refreshToken]
        do {
            return try await auth.send(body, to: "https://api.shop.example/v1/token", as: Login.self)
        } catch let error as PipelineError where error.status == .badRequest {
            let reason = try? error.response?.mapString(atKeyPath: "error")
            guard reason == "invalid_grant" else { throw error }
            return nil  // the server no longer accepts the refresh token
        }
    }
}
// end

// sample: model
nonisolated struct Order: Decodable, Identifiable { let id: Int }

@MainActor
@Observable
final class OrderList {
    private(set) var orders: [Order] = []
    private(set) var failure: String?
    private let shop: Provider<Shop>

    init(transport: any Transport, session: UserSession) {
        shop = Provider(transport: transport, plugins: [.standard { session.tokens }])
    }

    func load() async {
        do {
            orders = try await shop.request(.orders, as: [Order].self)
            failure = nil
        } catch is CancellationError {
            return  // the view has disappeared
        } catch let error as PipelineError where error.code == .sessionEnded {
            orders = []  // the views show the login
        } catch {
            failure = error.localizedDescription
        }
    }
}
// end

@Suite("The guide AppWithLogin", .watched)
@MainActor
struct AppWithLoginGuideTests {
    private let store: any CredentialStore = MemoryCredentialStore()
    private static let expired = Login(accessToken: "old", refreshToken: "r", expiry: .distantPast)

    private func stored() async throws -> Login? {
        try await store.load("login").map { try JSONDecoder().decode(Login.self, from: $0) }
    }

    // sample: test
    @Test("An expired token is refreshed before the orders are loaded")
    func refresh() async throws {
        let server = ScriptedTransport { request, _ in
            switch request.path {
            case "/v1/login":
                .status(200, body: #"{"accessToken": "a", "refreshToken": "r", "expiry": "2020-01-01T00:00:00Z"}"#)
            case "/v1/token": .status(200, body: #"{"accessToken": "b", "refreshToken": "s"}"#)
            default: .status(request.headers[.authorization] == "Bearer b" ? 200 : 401, body: #"[{"id": 7}]"#)
            }
        }
        let session = UserSession(transport: server, store: MemoryCredentialStore())
        let list = OrderList(transport: server, session: session)
        try await session.signIn(user: "ann", password: "secret")
        await list.load()
        #expect(list.orders.map(\.id) == [7])
        #expect(server.sent.map(\.path) == ["/v1/login", "/v1/token", "/v1/orders"])
    }
    // end

    @Test("Without a session, nothing is sent, and the list shows no failure")
    func noSession() async {
        let server = ScriptedTransport([])
        let list = OrderList(transport: server, session: UserSession(transport: server, store: store))
        await list.load()
        #expect(list.orders.isEmpty && list.failure == nil && server.sent.isEmpty)
    }

    @Test("A session that the server has ended is removed from the store, and a new login is used")
    func sessionEnd() async throws {
        let server = ScriptedTransport { request, _ in
            request.path == "/v1/token"
                ? .status(400, body: #"{"error": "invalid_grant"}"#) : .status(200, body: #"[{"id": 7}]"#)
        }
        let session = UserSession(transport: server, store: store)
        let list = OrderList(transport: server, session: session)
        await session.tokens.setCredential(Self.expired)
        #expect(try await stored()?.accessToken == "old")
        await list.load()
        #expect(list.orders.isEmpty && list.failure == nil)
        try await eventually { try await stored() == nil }
        await session.tokens.setCredential(Login(accessToken: "new", refreshToken: "s", expiry: nil))
        await list.load()
        #expect(list.orders.map(\.id) == [7])
        #expect(server.sent.map { $0.headers[.authorization] } == [nil, "Bearer new"])
    }

    @Test("Any other 400 of a refresh is shown, and the session continues", arguments: ["", #"{"error": "busy"}"#])
    func otherRejection(body: String) async throws {
        let server = ScriptedTransport(always: .status(400, body: body))
        let session = UserSession(transport: server, store: store)
        let list = OrderList(transport: server, session: session)
        await session.tokens.setCredential(Self.expired)
        await list.load()
        #expect(list.failure != nil)
        #expect(session.tokens.credential?.refreshToken == "r")
        #expect(try await stored()?.refreshToken == "r")
    }

    @Test("The login of an earlier run is restored, and a logout is shown and stored")
    func restoring() async throws {
        try await store.save(JSONEncoder().encode(Self.expired), for: "login")
        let session = UserSession(transport: ScriptedTransport([]), store: store)
        let following = Task { await session.follow() }
        await eventually { session.state == .signedIn }
        await session.signOut()
        await eventually { session.state == .signedOut }
        following.cancel()
        await following.value
        #expect(try await stored() == nil)
    }
}
