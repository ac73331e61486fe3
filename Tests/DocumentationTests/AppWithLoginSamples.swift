import Foundation
import Observation
import Pipeline
import PipelineAuth
import PipelineTesting
import TestSupport
import Testing

// sample: target
enum Shop: TargetType, AccessTokenAuthorizable {
    case items
    case orders
    case placeOrder(NewOrder)

    var baseURL: URL { Endpoint.url("https://api.shop.example/v1") }
    var path: String {
        switch self {
        case .items: "items"
        case .orders, .placeOrder: "orders"
        }
    }
    var method: HTTPMethod {
        switch self {
        case .items, .orders: .get
        case .placeOrder: .post
        }
    }
    var task: RequestTask {
        switch self {
        case .items, .orders: .requestPlain
        case .placeOrder(let order): .requestJSONEncodable(order)
        }
    }
    var validationType: ValidationType { .successCodes }
    var authorizationType: AuthorizationType? {
        switch self {
        case .items: nil  // sent without a token
        case .orders, .placeOrder: .bearer
        }
    }
    var sampleData: Data { Data(#"[{"id": 7}]"#.utf8) }  // for previews
}

nonisolated struct NewOrder: Encodable { let item: Int }
// end

// sample: login
nonisolated struct Login: TokenCredential, Codable {
    let accessToken: String
    let refreshToken: String
    let expiry: Date?
}

nonisolated struct TokenResponse: Decodable {
    let accessToken: String
    let refreshToken: String
    let expiresIn: Double

    var login: Login {
        Login(
            accessToken: accessToken,
            refreshToken: refreshToken,
            expiry: Date(timeIntervalSinceNow: expiresIn)
        )
    }
}
// end

// sample: session
@MainActor
@Observable
final class UserSession {
    enum State { case unknown, signedOut, signedIn, expired }

    private(set) var state = State.unknown
    let tokens: TokenRefreshPlugin<Login>
    @ObservationIgnored private var isRestored = false  // after that, what the store has is no longer of interest
    private let auth: Provider<URLTarget>
    private let store: any CredentialStore

    init(transport: any Transport, store: any CredentialStore) {
        let auth = Provider<URLTarget>(transport: transport, plugins: [.standard])
        self.auth = auth
        self.store = store
        tokens = TokenRefreshPlugin(
            credential: nil,
            onChange: { login, _ in await Self.save(login, in: store) },
            refresh: { expired, _ in try await Self.renew(expired, with: auth) }
        )
    }

    func signIn(user: String, password: String) async throws {
        let body = ["user": user, "password": password]
        let url = "https://api.shop.example/v1/login"
        let login = try await auth.send(body, to: url, as: TokenResponse.self).login
        isRestored = true
        await tokens.setCredential(login)
    }

    func signOut() async {
        isRestored = true
        await tokens.setCredential(nil)
    }

    /// Restores the login of an earlier run, and then keeps `state` current.
    func follow() async {
        await restore()
        for await change in tokens.changes {
            if change.credential != nil {
                state = .signedIn
            } else {
                state = change.reason == .sessionEnd ? .expired : .signedOut
            }
        }
    }

    /// Call it also when the app becomes active, in case the store could not be read earlier.
    func restore() async {
        do {
            guard !isRestored, let data = try await store.load("login"), !isRestored else { return }
            isRestored = true
            await tokens.setCredential(try JSONDecoder().decode(Login.self, from: data))
        } catch {
            print("the login could not be restored:", error)  // such as before the first unlock of the device
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
        let url = "https://api.shop.example/v1/token"
        do {
            return try await auth.send(body, to: url, as: TokenResponse.self).login
        } catch let error as PipelineError where isRejection(error) {
            return nil
        }
    }

    /// Whether the server no longer accepts the refresh token; adapt this to yours.
    nonisolated static func isRejection(_ error: PipelineError) -> Bool {
        let code = try? error.response?.mapString(atKeyPath: "error")
        return error.status == .unauthorized || (error.status == .badRequest && code == "invalid_grant")
    }
}
// end

/// The state and the action of a view for the login.
@MainActor
private final class SignIn {
    private(set) var failure: String?

    func signIn(to session: UserSession, user: String, password: String) async {
        // sample: sign in
        do {
            try await session.signIn(user: user, password: password)
            failure = nil
        } catch is CancellationError {
            return  // the task was cancelled
        } catch let error as PipelineError where error.status == .unauthorized {
            failure = "The user name or the password is wrong."
        } catch {
            failure = error.localizedDescription
        }
        // end
    }
}

// sample: model
func makeShop(transport: any Transport, session: UserSession) -> Provider<Shop> {
    Provider(transport: transport, plugins: [.standard { session.tokens }])
}

nonisolated struct Order: Decodable, Identifiable { let id: Int }

@MainActor
@Observable
final class OrderList {
    private(set) var orders: [Order] = []
    private(set) var failure: String?
    private let shop: Provider<Shop>

    init(shop: Provider<Shop>) {
        self.shop = shop
    }

    func load() async {
        do {
            orders = try await shop.request(.orders, as: [Order].self)
            failure = nil
        } catch is CancellationError {
            return  // the view has disappeared
        } catch let error as PipelineError where error.code == .sessionEnded {
            clear()  // the views show the login screen
        } catch {
            failure = error.localizedDescription
        }
    }

    func place(_ order: NewOrder) async {
        do {
            _ = try await shop.request(.placeOrder(order))
            await load()
        } catch is CancellationError {
            return
        } catch {
            failure = error.localizedDescription
        }
    }

    /// Removes what belongs to a user after a logout.
    func clear() {
        orders = []
        failure = nil
    }
}
// end

// sample: areas
nonisolated protocol ShopTarget: TargetType, AccessTokenAuthorizable {}

nonisolated extension ShopTarget {
    var baseURL: URL { Endpoint.url("https://api.shop.example/v1") }
    var validationType: ValidationType { .successCodes }
    var authorizationType: AuthorizationType? { .bearer }
}

enum Invoices: ShopTarget {
    case all

    var path: String { "invoices" }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
}
// end

nonisolated struct Invoice: Decodable { let id: Int }

private func invoices(transport: any Transport, session: UserSession) async throws -> [Invoice] {
    // sample: many
    let shop = Provider<MultiTarget>(transport: transport, plugins: [.standard { session.tokens }])
    let invoices = try await shop.request(Invoices.all, as: [Invoice].self)
    // end
    return invoices
}

// sample: oauth
@MainActor
@Observable
final class OAuthSession {
    private(set) var isSignedIn: Bool?  // nil until the keychain has been read
    let oauth: OAuthPlugin

    init(transport: any Transport, store: any CredentialStore, browse: @escaping @Sendable (URL) async throws -> URL) {
        oauth = OAuthPlugin(
            .discovered(at: Endpoint.url("https://auth.shop.example")),
            client: .public(id: "shop-app"),
            grant: .authorizationCode(redirect: Endpoint.url("shopapp://callback"), authenticate: browse),
            store: store,
            transport: transport
        )
    }

    /// Call it when the app starts or becomes active, and after a call that fails with `sessionEnded`.
    func update() async {
        do {
            isSignedIn = try await oauth.isSignedIn
        } catch {
            print("the session could not be read:", error)  // such as before the first unlock of the device
        }
    }

    func signIn() async throws {
        try await oauth.signIn()
        await update()
    }

    func signOut(of shop: Provider<Shop>) async {
        do {
            try await shop.signOut()
        } catch {
            print("the server did not revoke the tokens:", error)  // the session has ended anyway
        }
        await update()
    }
}
// end

// sample: extension
struct OpenTheApp: Error {}

func makeTokens(store: any CredentialStore) -> TokenRefreshPlugin<Login> {
    TokenRefreshPlugin(obtain: { expired, _ in
        guard let data = try await store.load("login") else { return nil }  // no user is logged in
        let login = try JSONDecoder().decode(Login.self, from: data)
        let isExpired = login.expiry.map { $0 < Date() } ?? false
        if isExpired || login.accessToken == expired?.accessToken { throw OpenTheApp() }
        return login
    })
}
// end

@Suite("The guide AppWithLogin", .watched)
@MainActor
struct AppWithLoginGuideTests {
    private let store: any CredentialStore = MemoryCredentialStore()
    private nonisolated static let expired = Login(accessToken: "old", refreshToken: "r", expiry: .distantPast)

    private func stored() async throws -> Login? {
        try await store.load("login").map { try JSONDecoder().decode(Login.self, from: $0) }
    }

    // sample: test
    @Test("An expired token is refreshed before the orders are loaded")
    @MainActor
    func refresh() async throws {
        let server = ScriptedTransport { request, _ in
            switch request.path {
            case "/v1/login": .status(200, body: #"{"accessToken": "a", "refreshToken": "r", "expiresIn": 0}"#)
            case "/v1/token": .status(200, body: #"{"accessToken": "b", "refreshToken": "s", "expiresIn": 600}"#)
            default: .status(request.headers[.authorization] == "Bearer b" ? 200 : 401, body: #"[{"id": 7}]"#)
            }
        }
        let session = UserSession(transport: server, store: MemoryCredentialStore())
        let list = OrderList(shop: makeShop(transport: server, session: session))
        try await session.signIn(user: "ann", password: "secret")
        await list.load()
        #expect(list.orders.map(\.id) == [7])
        #expect(server.sent.map(\.path) == ["/v1/login", "/v1/token", "/v1/orders"])
    }
    // end

    @Test("Without a session, nothing is sent, and the list shows no failure")
    func noSession() async {
        let server = ScriptedTransport([])
        let session = UserSession(transport: server, store: store)
        let list = OrderList(shop: makeShop(transport: server, session: session))
        await list.load()
        #expect(list.orders.isEmpty && list.failure == nil && server.sent.isEmpty)
    }

    @Test(
        "A session that the server has ended is removed from the store, and a new login is used",
        arguments: [(401, "{}"), (400, #"{"error": "invalid_grant"}"#)]
    )
    func sessionEnd(status: Int, body: String) async throws {
        let server = ScriptedTransport { request, _ in
            request.path == "/v1/token" ? .status(status, body: body) : .status(200, body: #"[{"id": 7}]"#)
        }
        let session = UserSession(transport: server, store: store)
        let list = OrderList(shop: makeShop(transport: server, session: session))
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

    @Test("Any other failure of a refresh is shown, and the session continues", arguments: [400, 503])
    func otherFailure(status: Int) async throws {
        let server = ScriptedTransport(always: .status(status))
        let session = UserSession(transport: server, store: store)
        let list = OrderList(shop: makeShop(transport: server, session: session))
        await session.tokens.setCredential(Self.expired)
        await list.load()
        #expect(list.failure != nil)
        #expect(session.tokens.credential?.refreshToken == "r")
        #expect(try await stored()?.refreshToken == "r")
    }

    /// A store that cannot be read until it is unlocked, like the keychain before the first unlock.
    private actor LockedStore: CredentialStore {
        private let login = Login(accessToken: "a", refreshToken: "r", expiry: nil)
        private var isLocked = true

        func unlock() { isLocked = false }

        func load(_ account: String) async throws -> Data? {
            if isLocked { throw PipelineError(.file(.unreadable), "locked") }
            return try JSONEncoder().encode(login)
        }

        func save(_ data: Data, for account: String) async throws {}

        func remove(_ account: String) async throws {}
    }

    /// A store that keeps what it has.
    private struct KeepingStore: CredentialStore {
        func load(_ account: String) async throws -> Data? { try JSONEncoder().encode(AppWithLoginGuideTests.expired) }

        func save(_ data: Data, for account: String) async throws {}

        func remove(_ account: String) async throws { throw PipelineError(.file(.notWritable), "locked") }
    }

    @Test("A logout stays one, even if the store could not remove the login")
    func keptLogin() async {
        let session = UserSession(transport: ScriptedTransport([]), store: KeepingStore())
        await session.restore()
        #expect(session.tokens.credential?.accessToken == "old")
        await session.signOut()
        await session.restore()
        #expect(session.tokens.credential == nil)
    }

    @Test("A login is restored when the store can be read again")
    func restored() async throws {
        let store = LockedStore()
        let session = UserSession(transport: ScriptedTransport([]), store: store)
        await session.restore()
        #expect(session.tokens.credential == nil)
        await store.unlock()
        await session.restore()
        #expect(session.tokens.credential?.accessToken == "a")
    }

    @Test("An order is sent with the token, and after a lost connection the text asks to check")
    func order() async {
        let server = ScriptedTransport([
            .status(201), .status(200, body: #"[{"id": 7}]"#), .failure(PipelineError(.connectionLost, "")),
        ])
        let session = UserSession(transport: server, store: store)
        let list = OrderList(shop: makeShop(transport: server, session: session))
        await session.tokens.setCredential(Login(accessToken: "a", refreshToken: "r", expiry: nil))
        await list.place(NewOrder(item: 3))
        #expect(list.orders.map(\.id) == [7] && list.failure == nil)
        await list.place(NewOrder(item: 3))
        #expect(list.failure?.contains("Check whether your change was made") == true)
        #expect(server.sent.map { $0.headers[.authorization] } == ["Bearer a", "Bearer a", "Bearer a"])
    }

    @Test("A wrong password has a text of its own")
    func signInFailures() async {
        let server = ScriptedTransport([.status(401), .status(500)])
        let session = UserSession(transport: server, store: store)
        let view = SignIn()
        await view.signIn(to: session, user: "ann", password: "wrong")
        #expect(view.failure == "The user name or the password is wrong.")
        await view.signIn(to: session, user: "ann", password: "secret")
        #expect(view.failure != nil && view.failure?.contains("password") == false)
    }

    @Test("The stub of a preview responds to a call with a token, and a new order is sent with it")
    func previews() async throws {
        let session = UserSession(transport: StubTransport(), store: store)
        await session.tokens.setCredential(Login(accessToken: "t", refreshToken: "r", expiry: nil))
        let list = OrderList(shop: makeShop(transport: StubTransport(), session: session))
        await list.load()
        #expect(list.orders.map(\.id) == [7])
        list.clear()
        #expect(list.orders.isEmpty)
        let server = ScriptedTransport(always: .status(201))
        try await makeShop(transport: server, session: session).send(.placeOrder(NewOrder(item: 3)))
        #expect(server.sent.map { $0.headers[.authorization] } == ["Bearer t"])
    }

    @Test("One provider sends targets of all areas with the token")
    func areas() async throws {
        let server = ScriptedTransport(always: .status(200, body: #"[{"id": 7}]"#))
        let session = UserSession(transport: server, store: store)
        await session.tokens.setCredential(Login(accessToken: "t", refreshToken: "r", expiry: nil))
        #expect(try await invoices(transport: server, session: session).map(\.id) == [7])
        #expect(server.sent.map(\.path) == ["/v1/invoices"])
        #expect(server.sent.map { $0.headers[.authorization] } == ["Bearer t"])
    }

    @Test("A session with OAuth 2.0 signs in, loads with the token, and signs out")
    func oauth() async throws {
        let server = ScriptedTransport { request, _ in
            switch request.path {
            case "/.well-known/oauth-authorization-server":
                let issuer = "https://auth.shop.example"
                let endpoints = #""authorization_endpoint": "\#(issuer)/sign-in", "token_endpoint": "\#(issuer)/token""#
                let json: HTTPFields = [.contentType: "application/json"]
                return .status(200, headers: json, body: #"{"issuer": "\#(issuer)", \#(endpoints)}"#)
            case "/token":
                let token = #"{"access_token": "a", "token_type": "Bearer", "expires_in": 600, "refresh_token": "r"}"#
                return .status(200, headers: [.contentType: "application/json"], body: token)
            default:
                let isKnown = request.headers[.authorization] == "Bearer a"
                return .status(isKnown ? 200 : 401, body: #"[{"id": 7}]"#)
            }
        }
        let session = OAuthSession(transport: server, store: store) { url in
            let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems
            let state = items?.first { $0.name == "state" }
            return Endpoint.url("shopapp://callback").appending(queryItems: [
                URLQueryItem(name: "code", value: "c"), URLQueryItem(name: "state", value: state?.value),
            ])
        }
        let shop = Provider<Shop>(transport: server, plugins: [.standard { session.oauth }])
        await session.update()
        #expect(session.isSignedIn == false)
        try await session.signIn()
        #expect(session.isSignedIn == true)
        let list = OrderList(shop: shop)
        await list.load()
        #expect(list.orders.map(\.id) == [7])
        await session.signOut(of: shop)
        #expect(session.isSignedIn == false)
    }

    @Test("An extension sends the stored login, and never refreshes it")
    func appExtension() async throws {
        let server = ScriptedTransport { request, _ in
            .status(request.headers[.authorization] == "Bearer new" ? 200 : 401, body: #"[{"id": 7}]"#)
        }
        let shop = Provider<Shop>(transport: server, plugins: [.standard { makeTokens(store: store) }])
        let none = await pipelineError { _ = try await shop.request(.orders, as: [Order].self) }
        #expect(none?.code == .sessionEnded)
        await UserSession.save(Self.expired, in: store)
        let error = await pipelineError { _ = try await shop.request(.orders, as: [Order].self) }
        #expect(error?.code == .tokenRefresh && server.sent.isEmpty)
        await UserSession.save(Login(accessToken: "old", refreshToken: "r", expiry: nil), in: store)
        let rejection = await pipelineError { _ = try await shop.request(.orders, as: [Order].self) }
        #expect(rejection?.status == .unauthorized)
        await UserSession.save(Login(accessToken: "new", refreshToken: "s", expiry: nil), in: store)
        #expect(try await shop.request(.orders, as: [Order].self).map(\.id) == [7])
        #expect(server.sent.map { $0.headers[.authorization] } == ["Bearer old", "Bearer old", "Bearer new"])
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
