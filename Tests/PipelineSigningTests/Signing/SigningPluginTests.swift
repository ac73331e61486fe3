import Foundation
import Pipeline
import PipelineAuth
import PipelineCaching
import PipelineResilience
import PipelineSigning
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("SigningPlugin", .tags(.concurrent), .watched)
struct SigningPluginTests {
    private typealias Step = ScriptedTransport.Step

    private static let field = HTTPField.Name.named("X-Signature")
    private let clock = ManualClock()

    /// A plugin whose signature names everything that it covers.
    private static func signing(
        _ scope: CredentialScope = .endpoint,
        cleartext: CleartextPolicy = .loopbackOnly,
        account: (@Sendable (any TargetType) async throws -> String)? = nil
    ) -> SigningPlugin {
        SigningPlugin(scope: scope, cleartext: cleartext, account: account) { request, context in
            let time = context.start.duration(to: context.clock.now) / .milliseconds(1)
            let text = "\(request.method) \(request.origin)\(request.head.path ?? "") \(Int(time)) canary-4711"
            try request.setHeader(text, for: field)
        }
    }

    private func provider(
        _ plugins: [any PluginType],
        _ makeStep: @escaping @Sendable (PipelineRequest, Int) -> Step = { _, _ in .status(200, body: "ok") }
    ) -> (Provider<Ask>, ScriptedTransport) {
        let transport = ScriptedTransport(makeStep)
        let configuration = ProviderConfiguration(clock: PipelineClock(clock))
        return (Provider(transport: transport, plugins: plugins, configuration: configuration), transport)
    }

    private static func signatures(_ transport: ScriptedTransport) -> [String?] {
        transport.sent.map { $0.headers[field]?.replacing(" canary-4711", with: "") }
    }

    @Test("The plugin passes the conformance suite")
    func conformance() async {
        let violations = await PluginConformance { Self.signing() }.run()
        #expect(violations == [])
    }

    @Test("A request is signed as it is sent, and the field is marked as secret")
    func signing() async throws {
        let language = PluginStack.exchange(name: "path") { request, _, send in
            var request = request
            request.head.path = "/changed"
            return try await send(request)
        }
        let (provider, transport) = provider([Self.signing(), language].reversed())
        _ = try await provider.request(Ask())
        #expect(Self.signatures(transport) == ["GET https://a.test/changed 0"])
        #expect(transport.sent[0].isSecret(Self.field))
    }

    @Test("Each attempt and each hop on the origin is signed anew; another origin gets no signature")
    func hops() async throws {
        let retry = RetryPlugin(backoff: .constant(.seconds(1)))
        let (provider, transport) = provider([retry, Self.signing()]) { request, index in
            switch request.head.path {
            case "/b" where index == 0: .status(503)
            case "/b": .status(302, headers: [.location: "/c"])
            case "/c": .status(302, headers: [.location: "https://b.test/d"])
            case "/d": .status(302, headers: [.location: "https://a.test/e"])
            default: .status(200)
            }
        }
        _ = try await clock.run { try await provider.request(Ask()) }
        let expected = ["GET https://a.test/b 0", "GET https://a.test/b 1000", "GET https://a.test/c 1000", nil, nil]
        #expect(Self.signatures(transport) == expected)
    }

    @Test("Query items that the signer adds are marked as secret, also after a redirect that repeats them")
    func query() async throws {
        let signing = SigningPlugin { request, _ in request.appendQuery("check%2Bed=canary-4711") }
        let (provider, transport) = provider([signing]) { request, index in
            index == 0 ? .status(307, headers: [.location: "/c?page=2&check%2Bed=canary-4711"]) : .status(200)
        }
        let target = Ask(task: .requestParameters(parameters: ["page": 1], encoding: URLEncoding.queryString))
        _ = try await provider.request(target)
        #expect(transport.sent.count == 2)
        for request in transport.sent { #expect(request.secretQueryNames == ["check+ed"]) }
        #expect(transport.sent.first?.query == "page=1&check%2Bed=canary-4711")
    }

    @Test("With hosts, each matching host gets a signature, also after a redirect")
    func hosts() async throws {
        let (provider, transport) = provider([Self.signing(.hosts(["*.a.test"]))]) { request, _ in
            switch request.head.path {
            case "/b": .status(302, headers: [.location: "https://x.a.test/c"])
            case "/c": .status(302, headers: [.location: "https://b.test/d"])
            default: .status(200)
            }
        }
        _ = try await provider.request(Ask())
        #expect(Self.signatures(transport) == [nil, "GET https://x.a.test/c 0", nil])
    }

    @Test(
        "A pattern of a host applies to all of its ports",
        arguments: [
            "https://a.test:8443", "https://a.test", "https://[::1]:8443", "https://[::1]", "https://x.a.test:1",
        ]
    )
    func ports(url: String) async throws {
        let (provider, transport) = provider([Self.signing(.hosts(["a.test", "*.a.test", "[::1]"]))])
        _ = try await provider.request(Ask(url: url))
        #expect(Self.signatures(transport) == ["GET \(url)/b 0"])
    }

    @Test("A user name in front of the host is not mistaken for the host")
    func userName() async throws {
        let (provider, transport) = provider([Self.signing(.hosts(["a.test"]))])
        _ = try? await provider.request(Ask(url: "https://a.test:x@b.test"))
        #expect(Self.signatures(transport).allSatisfy { $0 == nil })
    }

    @Test("Each copy of a hedged request is signed at its own time")
    func hedging() async throws {
        let hedging = HedgingPlugin(after: .fixed(.milliseconds(50)))
        let (provider, transport) = provider([hedging, Self.signing()]) { _, index in
            index == 0 ? .delayed(.seconds(1), .status(200)) : .status(200)
        }
        _ = try await clock.run { try await provider.request(Ask()) }
        #expect(Self.signatures(transport) == ["GET https://a.test/b 0", "GET https://a.test/b 50"])
    }

    @Test("A second request after a challenge is signed anew")
    func challenge() async throws {
        let credentials = CredentialsPlugin { _ in PasswordCredential(username: "a", password: "b") }
        let (provider, transport) = provider([credentials, Self.signing()]) { _, index in
            index == 0 ? .status(401, headers: [.wwwAuthenticate: #"Basic realm="r""#]) : .status(200)
        }
        _ = try await provider.request(Ask())
        #expect(Self.signatures(transport) == ["GET https://a.test/b 0", "GET https://a.test/b 0"])
        #expect(transport.sent[1].headers.contains(.authorization))
    }

    @Test("A signature is sent over http only to a loopback address, unless the policy allows it")
    func cleartext() async throws {
        let (provider, transport) = provider([Self.signing()])
        await #expect(throws: PipelineError.self) { try await provider.request(Ask(url: "http://a.test")) }
        #expect(transport.sent.isEmpty)
        _ = try await provider.request(Ask(url: "http://127.0.0.1"))
        let (open, sent) = self.provider([Self.signing(cleartext: .allowed)])
        _ = try await open.request(Ask(url: "http://a.test"))
        #expect(Self.signatures(sent) == ["GET http://a.test/b 0"])
    }

    private struct Broken: Error {}

    @Test("A failed signature sends nothing and names the plugin")
    func failure() async throws {
        let plugin = SigningPlugin { _, _ async throws -> Void in throw Broken() }
        let (provider, transport) = self.provider([plugin])
        let error = await #expect(throws: PipelineError.self) { try await provider.request(Ask()) }
        #expect(error?.code == .plugin)
        #expect(error?.plugin == "SigningPlugin")
        #expect(error?.underlyingError is Broken)
        #expect(transport.sent.isEmpty)
    }

    private struct OneKey: RequestSigner {
        var hasOneKey: Bool { true }

        func sign(_ request: inout PipelineRequest, context: PipelineContext) async throws {
            try request.setHeader("signature", for: SigningPluginTests.field)
        }
    }

    /// What a plugin knows of the accounts for which it signs, and the exchanges of three calls for two of them.
    enum Knowledge: Int, CaseIterable {
        case oneKey = 1
        case accounts, nothing
    }

    @Test("Two accounts never share a response; calls of one account do if it is known", arguments: Knowledge.allCases)
    func sharing(knowledge: Knowledge) async throws {
        let plugin =
            switch knowledge {
            case .oneKey: SigningPlugin(OneKey())
            case .accounts: Self.signing { ($0 as? Ask)?.pathTemplate ?? "" }
            case .nothing: Self.signing()
            }
        let (provider, transport) = self.provider([plugin, DeduplicationPlugin()]) { _, _ in
            .delayed(.seconds(1), .status(200))
        }
        try await clock.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for name in ["a", "b", "a"] {
                    group.addTask { _ = try await provider.request(Ask(pathTemplate: name)) }
                }
                try await group.waitForAll()
            }
        }
        #expect(transport.sent.count == knowledge.rawValue)
    }

    @Test("A cache outside stores signed responses for their account if it is known", arguments: [true, false])
    func caching(isKnown: Bool) async throws {
        let store = MemoryCacheStore()
        for expected in [1, 2] {
            let signing = isKnown ? SigningPlugin(OneKey()) : Self.signing()
            let plugins: [any PluginType] = [CachePlugin(store: store), signing]
            let (provider, transport) = provider(plugins) { _, _ in
                .status(200, headers: [.cacheControl: "max-age=60"], body: "ok")
            }
            _ = try await provider.request(Ask())
            _ = try await provider.request(Ask())
            #expect(transport.sent.count == (isKnown ? 1 : 2), "run \(expected): another key has its own responses")
        }
    }

    @Test("explain() reports a plugin inside that changes what is signed, and sharing outside")
    func findings() {
        let inside = PluginStack.exchange(name: "fields", capabilities: [.setsFields]) { try await $2($0) }
        let wrong = Provider<Ask>(transport: ScriptedTransport([]), plugins: [Self.signing(), inside])
        #expect(wrong.explain().findings.map(\.id) == ["change-inside-signature"])
        let credentials = CredentialsPlugin { _ in nil }
        let challenged = Provider<Ask>(transport: ScriptedTransport([]), plugins: [Self.signing(), credentials])
        #expect(challenged.explain().findings.map(\.id) == ["change-inside-signature"])
        let late = Provider<Ask>(transport: ScriptedTransport([]), plugins: [DeduplicationPlugin(), Self.signing()])
        #expect(late.explain().findings.map(\.id) == ["sharing-outside-identity"])
        let right = Provider<Ask>(transport: ScriptedTransport([]), plugins: [Self.signing(), DeduplicationPlugin()])
        #expect(right.explain().findings.isEmpty)
    }

    @Test("No description shows what the closure holds")
    func descriptions() {
        let plugin = Self.signing()
        var dumped = ""
        dump(plugin, to: &dumped)
        #expect([String(describing: plugin), String(reflecting: plugin)] == ["SigningPlugin", "SigningPlugin"])
        #expect(dumped == "- SigningPlugin\n")
    }
}
