import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// Every plugin that shares, stores, joins or repeats, beside every way to set a credential, in both orders.
@Suite("Two accounts with equal calls", .watched)
struct AccountPairsTests {
    /// The account of the current task, as a server reads it from a session.
    private enum Account { @TaskLocal static var current = "none" }

    private struct Mine: TargetType, AccessTokenAuthorizable {
        let account: String
        var ownHeader = false
        var baseURL: URL { URL(string: "https://api.example.com") ?? URL(filePath: "/") }
        var path: String { "/mine" }
        var method: HTTPRequest.Method { .get }
        var task: RequestTask { .requestPlain }
        var headers: [String: String]? { ownHeader ? ["Authorization": "Bearer \(account)"] : nil }
        var authorizationType: AuthorizationType? { .bearer }
    }

    // Plugins as people write them, without capabilities and without an identity.

    private struct OwnPrepare: Stage.Prepare {
        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
            request.headers[.authorization] = "Bearer \(Self.account(context.target))"
        }

        static func account(_ target: any TargetType) -> String { (target as? Mine)?.account ?? "none" }
    }

    private struct OwnIntercept: Stage.Intercept {
        func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Stage.Next
        ) async throws -> PipelineResponse {
            var request = request
            request.headers[.authorization] = "Bearer \(OwnPrepare.account(context.target))"
            return try await next(request)
        }
    }

    private struct OwnExchange: Stage.Exchange {
        let field: HTTPField.Name

        func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse {
            var request = request
            request.headers[field] = OwnPrepare.account(context.target)
            return try await send(request)
        }
    }

    private struct Wrapping: Transport {
        let wrapped: any Transport
        var decodesContent: Bool { wrapped.decodesContent }

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            var request = request
            request.headers[.authorization] = "Bearer \(Account.current)"
            return try await wrapped.send(request, context: context)
        }
    }

    private static func account(_ target: any TargetType) -> String { OwnPrepare.account(target) }

    private static func setters() throws -> [(name: String, plugins: [any PluginType])] {
        let user = try #require(HTTPField.Name("X-User"))
        let signature: @Sendable (inout PipelineRequest, PipelineContext) async throws -> Void = { request, context in
            try request.setHeader(account(context.target), for: "X-Signature")
        }
        return [
            ("AccessTokenPlugin", [AccessTokenPlugin { account($0) }]),
            ("AccessTokenPlugin of the task", [AccessTokenPlugin { _ in Account.current }]),
            ("BasicAuthPlugin", [BasicAuthPlugin { credential(account($0)) }]),
            ("HeadersPlugin, secret", [HeadersPlugin { ["X-Api-Key": account($0)] }]),
            ("HeadersPlugin, plain", [HeadersPlugin { ["X-User": account($0)] }]),
            ("SigningPlugin", [SigningPlugin(sign: signature)]),
            ("SigningPlugin with account", [SigningPlugin(account: { account($0) }, sign: signature)]),
            ("CredentialsPlugin", [CredentialsPlugin { _ in credential(Account.current) }]),
            (
                "CredentialsPlugin with account",
                [CredentialsPlugin(account: { account($0) }, credential: { name, _ in credential(name) })]
            ),
            ("closure", [PluginStack.prepare { $0.headers[.authorization] = "Bearer \(account($1.target))" }]),
            ("own prepare", [OwnPrepare()]), ("own intercept", [OwnIntercept()]),
            ("own exchange", [OwnExchange(field: .authorization)]), ("own cookie", [OwnExchange(field: .cookie)]),
            ("own plain field", [OwnExchange(field: user)]), ("target", []), ("transport", []),
        ]
    }

    private final class Found: Sendable {
        private let all = Mutex<[String]>([])
        var ids: [String] { all.withLock { $0 } }
        func add(_ finding: PipelineDescription.Finding) { all.withLock { $0.append(finding.id) } }
    }

    private static func credential(_ account: String) -> PasswordCredential {
        PasswordCredential(username: account, password: "password")
    }

    private static let sharers: [(name: String, make: @Sendable () -> [any PluginType])] = [
        ("de-duplication", { [DeduplicationPlugin()] }),
        ("cache", { [CachePlugin()] }),
        ("shared cache", { [CachePlugin(rules: .shared)] }),
        ("cache and de-duplication", { [CachePlugin(), DeduplicationPlugin()] }),
        ("de-duplication and cache", { [DeduplicationPlugin(), CachePlugin()] }),
        ("hedging", { [HedgingPlugin(after: .fixed(.milliseconds(10))), DeduplicationPlugin()] }),
        ("retry", { [RetryPlugin(), DeduplicationPlugin()] }),
        ("cookies", { [CookiePlugin(), CachePlugin(), DeduplicationPlugin()] }),
        ("standard", { [.standard(logging: .off, cache: CachePlugin())] }),
    ]

    /// A server that responds with the account that it reads from a request, and challenges one without any.
    private static func transport(challenging: Bool) -> ScriptedTransport {
        ScriptedTransport { request, _ in
            let account = reader(request.headers)
            guard account != "none" || !challenging else {
                return .delayed(.milliseconds(50), .status(401, headers: [.wwwAuthenticate: "Basic realm=\"a\""]))
            }
            let fields: HTTPFields = [.cacheControl: "max-age=60"]
            return .delayed(.milliseconds(50), .status(200, headers: fields, body: account))
        }
    }

    private static func reader(_ fields: HTTPFields) -> String {
        if let field = fields[.authorization], let value = field.split(separator: " ").last {
            guard field.hasPrefix("Basic") else { return String(value) }
            let text = String(decoding: Data(base64Encoded: String(value)) ?? Data(), as: UTF8.self)
            return String(text.prefix { $0 != ":" })
        }
        let names = ["X-User", "X-Api-Key", "X-Signature", "Cookie"].compactMap { HTTPField.Name($0) }
        return names.lazy.compactMap { fields[$0] }.first ?? "none"
    }

    @Test(
        "A2, G02, G07: neither gets the response of the other, whatever sets the credential where",
        arguments: sharers.indices
    )
    func pairs(index: Int) async throws {
        let sharer = Self.sharers[index]
        for setter in try Self.setters() {
            for isOutside in [true, false] {
                let stack = isOutside ? setter.plugins + sharer.make() : sharer.make() + setter.plugins
                let script = Self.transport(challenging: setter.name.hasPrefix("CredentialsPlugin"))
                let clock = ManualClock()
                let provider = Provider<Mine>(
                    transport: setter.name == "transport" ? Wrapping(wrapped: script) : script,
                    plugins: stack,
                    configuration: ProviderConfiguration(findings: .report { _ in }, clock: clock)
                )
                let ask = { @Sendable (account: String) async throws -> String in
                    try await Account.$current.withValue(account) {
                        let target = Mine(account: account, ownHeader: setter.name == "target")
                        return try await provider.request(target).mapString()
                    }
                }
                let place = "\(setter.name) \(isOutside ? "outside" : "inside") \(sharer.name)"
                try await clock.run {
                    async let alice = ask("alice")
                    async let bob = ask("bob")
                    async let again = ask("alice")
                    let answers = try await [alice, bob, again]
                    #expect(answers == ["alice", "bob", "alice"], "\(place), at once")
                    for account in ["bob", "alice"] {
                        #expect(try await ask(account) == account, "\(place), later")
                    }
                }
            }
        }
    }

    @Test("A2: a credential inside a plugin that shares is a leak that is reported when the provider is made")
    func reported() throws {
        for setter in try Self.setters() where !setter.plugins.isEmpty {
            let found = Found()
            let plugins: [any PluginType] = [DeduplicationPlugin()] + setter.plugins
            let configuration = ProviderConfiguration(findings: .report { found.add($0) })
            _ = Provider<Mine>(transport: ScriptedTransport([]), plugins: plugins, configuration: configuration)
            let isDeclared = setter.plugins.contains { ($0 as? any CapabilityDeclaring)?.capabilities.isEmpty == false }
            let isCredentialKnown = isDeclared && setter.name != "CredentialsPlugin"
            #expect(found.ids.contains { $0.hasPrefix("sharing-outside") } == isCredentialKnown, "\(setter.name)")
        }
    }
}
