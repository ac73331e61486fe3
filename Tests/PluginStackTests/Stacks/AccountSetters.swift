import Foundation
import Pipeline
import PipelineAuth
import PipelineCaching
import PipelineSigning
import PipelineTesting

/// A call of an account; the calls of all accounts are equal.
struct AccountCall: TargetType, AccessTokenAuthorizable {
    /// The account of the current task, as a server reads it from a session.
    @TaskLocal static var current = "none"

    let account: String
    var headers: [String: String]?
    var options = RequestOptions()

    var baseURL: URL { URL(string: "https://api.example.com") ?? URL(filePath: "/") }
    var path: String { "/mine" }
    var method: HTTPRequest.Method { .get }
    var task: RequestTask { .requestPlain }
    var authorizationType: AuthorizationType? { .bearer }

    static func account(_ target: any TargetType) -> String { (target as? AccountCall)?.account ?? "none" }
}

/// A way to set the credential of an account.
struct AccountSetter: Sendable {
    let name: String
    /// The challenge of the server, if the credential is sent only after one.
    var challenge: String?
    /// Whether a finding reports the plugin inside one that shares.
    var isReported = false
    /// Changes the call of an account.
    var change: @Sendable (inout AccountCall) -> Void = { _ in }
    /// Wraps the transport.
    var wrap: @Sendable (any Transport) -> any Transport = { $0 }
    /// Makes the plugins.
    let make: @Sendable () async throws -> [any PluginType]

    private static let basic = "Basic realm=\"a\""
    private static let digest = "Digest realm=\"a\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256"

    static func credential(_ account: String) -> PasswordCredential {
        PasswordCredential(username: account, password: "password")
    }

    /// A store that has a cookie for each account.
    private static func cookies() async -> MemoryCookieStore {
        let store = MemoryCookieStore()
        for account in ["alice", "bob"] { await store.setCookie("account=\(account)", account: account) }
        return store
    }

    private static let sign: @Sendable (inout PipelineRequest, PipelineContext) async throws -> Void = {
        try $0.setHeader(AccountCall.account($1.target), for: "X-Signature")
    }

    /// The plugins of this package.
    private static let plugins: [AccountSetter] = [
        AccountSetter(name: "AccessTokenPlugin", isReported: true) { [AccessTokenPlugin { AccountCall.account($0) }] },
        AccountSetter(name: "AccessTokenPlugin of the task", isReported: true) {
            [AccessTokenPlugin { _ in AccountCall.current }]
        },
        AccountSetter(name: "AccessTokenPlugin with sessions", isReported: true) {
            [AccessTokenPlugin.sessions { SessionToken(AccountCall.account($0), session: AccountCall.account($0)) }]
        },
        AccountSetter(name: "BasicAuthPlugin", isReported: true) {
            [BasicAuthPlugin { credential(AccountCall.account($0)) }]
        },
        AccountSetter(
            name: "BasicAuthPlugin, option",
            isReported: true,
            change: { call in call.options.basicAuth = credential(call.account) },
            make: { [BasicAuthPlugin()] }
        ),
        AccountSetter(name: "HeadersPlugin, secret", isReported: true) {
            [HeadersPlugin { ["X-Api-Key": AccountCall.account($0)] }]
        },
        AccountSetter(name: "HeadersPlugin, plain", isReported: true) {
            [HeadersPlugin { ["X-User": AccountCall.account($0)] }]
        },
        AccountSetter(name: "CookiePlugin with account", isReported: true) {
            [CookiePlugin(store: await cookies(), account: { AccountCall.account($0) })]
        },
        AccountSetter(name: "SigningPlugin", isReported: true) { [SigningPlugin(sign: sign)] },
        AccountSetter(name: "SigningPlugin with account", isReported: true) {
            [SigningPlugin(account: { AccountCall.account($0) }, sign: sign)]
        },
        AccountSetter(name: "CredentialsPlugin", challenge: basic) {
            [CredentialsPlugin { _ in credential(AccountCall.current) }]
        },
        AccountSetter(name: "CredentialsPlugin, Digest", challenge: digest) {
            [CredentialsPlugin { _ in credential(AccountCall.current) }]
        },
        AccountSetter(name: "CredentialsPlugin with account", challenge: basic, isReported: true) {
            [CredentialsPlugin(account: { AccountCall.account($0) }, credential: { name, _ in credential(name) })]
        },
        AccountSetter(name: "CredentialsPlugin with account, Digest", challenge: digest, isReported: true) {
            [CredentialsPlugin(account: { AccountCall.account($0) }, credential: { name, _ in credential(name) })]
        },
    ]

    /// Plugins, closures, targets and transports as people write them, without capabilities and without an identity.
    private static let others: [AccountSetter] = [
        AccountSetter(name: "prepare closure") {
            [.prepare { $0.headers[.authorization] = "Bearer \(AccountCall.account($1.target))" }]
        },
        AccountSetter(name: "intercept closure") {
            [.intercept { try await $2(authorized($0, AccountCall.account($1.target))) }]
        },
        AccountSetter(name: "exchange closure") {
            [.exchange { try await $2(authorized($0, AccountCall.account($1.target))) }]
        },
        AccountSetter(name: "exchange closure, Cookie") {
            [.exchange { try await $2(authorized($0, AccountCall.account($1.target), in: "Cookie")) }]
        },
        AccountSetter(name: "exchange closure, plain") {
            [.exchange { try await $2(authorized($0, AccountCall.account($1.target), in: "X-User")) }]
        },
        AccountSetter(name: "exchange closure of the task") {
            [.exchange { try await $2(authorized($0, AccountCall.current)) }]
        },
        AccountSetter(name: "target", change: { $0.headers = ["Authorization": "Bearer \($0.account)"] }, make: { [] }),
        AccountSetter(name: "transport", wrap: { Wrapping(wrapped: $0) }, make: { [] }),
    ]

    static let all = plugins + others

    private static func authorized(
        _ request: PipelineRequest,
        _ account: String,
        in name: String = "Authorization"
    ) -> PipelineRequest {
        var request = request
        if let name = HTTPField.Name(name) { request.headers[name] = account }
        return request
    }

    /// A transport that sets the credential of the task.
    private struct Wrapping: Transport {
        let wrapped: any Transport
        var decodesContent: Bool { wrapped.decodesContent }

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            try await wrapped.send(authorized(request, AccountCall.current), context: context)
        }
    }
}

extension MemoryCookieStore {
    /// Replaces the cookies of an account.
    func setCookie(_ cookie: String, account: String = "") {
        remove(account: account)
        update(account: account) { jar in
            guard
                let request = CookieJar.Request(scheme: "https", authority: "api.example.com", path: "/", method: .get)
            else { return }
            jar.store([cookie], from: request, rules: CookieRules(), at: Date(timeIntervalSince1970: 1_767_225_600))
        }
    }
}
