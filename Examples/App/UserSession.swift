import Foundation
import Observation
import Pipeline
import PipelineAuth

/// What the plugin sends, and the store keeps.
nonisolated struct Login: TokenCredential, Codable {
    let accessToken: String
    let refreshToken: String
    let expiry: Date?
}

/// What the server responds to a login and to a refresh.
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

/// The session of the user, for the views, and the plugin that sends its token.
@MainActor
@Observable
final class UserSession {
    enum State {
        case unknown, signedOut, signedIn, expired
    }

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

    /// Called also when the app becomes active, in case the store could not be read earlier.
    func restore() async {
        do {
            guard !isRestored, let data = try await store.load("login"), !isRestored else { return }
            isRestored = true
            await tokens.setCredential(try JSONDecoder().decode(Login.self, from: data))
        } catch {
            print("the login could not be restored:", error)  // such as before the first unlock of the device
        }
    }

    func signIn(user: String, password: String) async throws {
        let body = ["user": user, "password": password]
        let url = "https://photos.example/v1/login"
        let login = try await auth.send(body, to: url, as: TokenResponse.self).login
        isRestored = true
        await tokens.setCredential(login)
    }

    func signOut() async {
        isRestored = true
        await tokens.setCredential(nil)
    }

    /// Returns a new login, or `nil` if the server no longer accepts the refresh token.
    private nonisolated static func renew(_ expired: Login, with auth: Provider<URLTarget>) async throws -> Login? {
        let body = ["refreshToken": expired.refreshToken]
        let url = "https://photos.example/v1/token"
        do {
            return try await auth.send(body, to: url, as: TokenResponse.self).login
        } catch let error as PipelineError where isRejection(error) {
            return nil
        }
    }

    /// Whether the server no longer accepts the refresh token; adapt this to yours.
    private nonisolated static func isRejection(_ error: PipelineError) -> Bool {
        let code = try? error.response?.mapString(atKeyPath: "error")
        return error.status == .unauthorized || (error.status == .badRequest && code == "invalid_grant")
    }

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
}
