import Foundation
import Pipeline
import PipelineAuth
import PipelineCaching
import PipelineSigning
import PipelineTesting
import Synchronization

/// A way to set the credential of the one user who is signed in.
struct AccountLogin: Sendable {
    /// The user who is signed in.
    final class User: Sendable {
        private let state = Mutex("none")

        var name: String {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    /// The plugins, and what signs another user in.
    struct Session: Sendable {
        let user: User
        var plugins: [any PluginType] = []
        var wrap: @Sendable (any Transport) -> any Transport = { $0 }
        let signIn: @Sendable (String) async throws -> Void

        init(
            _ user: User,
            _ plugins: [any PluginType] = [],
            wrap: @escaping @Sendable (any Transport) -> any Transport = { $0 },
            signIn: @escaping @Sendable (String) async throws -> Void
        ) {
            (self.user, self.plugins, self.wrap) = (user, plugins, wrap)
            self.signIn = { name in
                guard user.name != name else { return }
                user.name = name
                try await signIn(name)
            }
        }
    }

    let name: String
    var challenge: String?
    let make: @Sendable (ManualClock) async throws -> Session

    private struct Wrapping: Transport {
        let wrapped: any Transport
        let user: User
        var decodesContent: Bool { wrapped.decodesContent }

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            var request = request
            request.headers[.authorization] = user.name
            return try await wrapped.send(request, context: context)
        }
    }

    private init(
        _ name: String,
        challenge: String? = nil,
        _ plugin: @escaping @Sendable (User) -> any PluginType
    ) {
        self.init(name, challenge: challenge, session: { user, _ in Session(user, [plugin(user)]) { _ in } })
    }

    private init(
        _ name: String,
        challenge: String? = nil,
        session: @escaping @Sendable (User, ManualClock) async throws -> Session
    ) {
        (self.name, self.challenge) = (name, challenge)
        make = { try await session(User(), $0) }
    }

    static let all: [AccountLogin] = [
        AccountLogin("AccessTokenPlugin") { user in AccessTokenPlugin { _ in user.name } },
        AccountLogin("AccessTokenPlugin with sessions") { user in
            AccessTokenPlugin.sessions { _ in SessionToken(user.name, session: user.name) }
        },
        AccountLogin("BasicAuthPlugin") { user in BasicAuthPlugin { _ in AccountSetter.credential(user.name) } },
        AccountLogin("HeadersPlugin, secret") { user in HeadersPlugin { _ in ["X-Api-Key": user.name] } },
        AccountLogin("HeadersPlugin, plain") { user in HeadersPlugin { _ in ["X-User": user.name] } },
        AccountLogin("SigningPlugin") { user in
            SigningPlugin { request, _ in try request.setHeader(user.name, for: "X-Signature") }
        },
        AccountLogin("CredentialsPlugin with account", challenge: "Basic realm=\"a\"") { user in
            CredentialsPlugin(account: { _ in user.name }, credential: { name, _ in AccountSetter.credential(name) })
        },
        AccountLogin("prepare closure") { user in .prepare { request, _ in request.headers[.authorization] = user.name }
        },
        AccountLogin("exchange closure") { user in
            .exchange { request, _, send in
                var request = request
                request.headers[.authorization] = user.name
                return try await send(request)
            }
        },
        AccountLogin(
            "transport",
            session: { user, _ in Session(user, wrap: { Wrapping(wrapped: $0, user: user) }) { _ in } }
        ),
        AccountLogin("TokenRefreshPlugin, whose calls join a refresh", session: refreshed),
        AccountLogin("OAuthPlugin", session: signedIn),
        AccountLogin("CookiePlugin", session: withCookies),
    ]

    private static let refreshed: @Sendable (User, ManualClock) async throws -> Session = { user, clock in
        let plugin = TokenRefreshPlugin(credential: nil as RefreshedCredential?) { credential, _ in
            try await clock.sleep(for: .milliseconds(10))
            return RefreshedCredential(accessToken: credential.accessToken)
        }
        return Session(user, [plugin]) { name in
            await plugin.setCredential(RefreshedCredential(accessToken: name, expiry: .distantPast))
        }
    }

    private struct RefreshedCredential: TokenCredential {
        let accessToken: String
        var expiry: Date?
    }

    private static let signedIn: @Sendable (User, ManualClock) async throws -> Session = { user, clock in
        let tokens = ScriptedTransport { _, _ in
            .status(200, body: #"{"access_token": "\#(user.name)", "token_type": "Bearer", "expires_in": 3600}"#)
        }
        let plugin = OAuthPlugin(
            OAuthBench.server,
            client: .public(id: "app"),
            grant: OAuthBench.browser(),
            transport: tokens,
            configuration: ProviderConfiguration(clock: clock)
        )
        return Session(user, [plugin]) { _ in
            try await plugin.signOut()
            try await plugin.signIn()
        }
    }

    private static let withCookies: @Sendable (User, ManualClock) async throws -> Session = { user, _ in
        let store = MemoryCookieStore()
        let plugin = CookiePlugin(store: store)
        return Session(user, [plugin]) { name in
            try await plugin.signOut()
            await store.setCookie("account=\(name)")
        }
    }
}
