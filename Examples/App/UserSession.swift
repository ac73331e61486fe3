import Foundation
import Observation
import Pipeline
import PipelineAuth

/// What the server responds to a login and to a refresh, with the date in ISO 8601.
nonisolated struct Login: TokenCredential, Codable {
    let accessToken: String
    let refreshToken: String
    let expiry: Date?
}

/// The session of the user, for the views, and the plugin that sends its token.
@MainActor
@Observable
final class UserSession {
    enum State {
        case unknown, signedOut, signedIn, expired
    }

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
            try await Self.refresh(expired, auth)
        }
    }

    /// Restores the login of an earlier run, and then follows the session until the task is cancelled.
    func follow() async {
        if let data = try? await store.load("login"), let login = try? JSONDecoder().decode(Login.self, from: data) {
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

    func signIn(user: String, password: String) async throws {
        let body = ["user": user, "password": password]
        await tokens.setCredential(try await auth.send(body, to: "https://photos.example/v1/login", as: Login.self))
    }

    func signOut() async { await tokens.setCredential(nil) }

    /// Returns a new login, or `nil` if the server no longer accepts the refresh token.
    private nonisolated static func refresh(_ expired: Login, _ auth: Provider<URLTarget>) async throws -> Login? {
        let body = ["refreshToken": expired.refreshToken]
        do {
            return try await auth.send(body, to: "https://photos.example/v1/token", as: Login.self)
        } catch let error as PipelineError where error.status == .badRequest || error.status == .unauthorized {
            return nil
        }
    }

    private nonisolated static func save(_ login: Login?, in store: any CredentialStore) async {
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
