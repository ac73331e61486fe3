import Foundation
import Pipeline
import PipelineAuth
import PipelineSigning
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("The scope of credentials", .watched)
struct CredentialScopeTests {
    private static let scope = CredentialScope.hosts(["api.example.com", "*.shop.test"])

    private static let setters: [(name: String, make: @Sendable () -> any PluginType)] = [
        ("AccessTokenPlugin", { AccessTokenPlugin(scope: scope) { _ in "canary" } }),
        ("BasicAuthPlugin", { BasicAuthPlugin(username: "ann", password: "canary", scope: scope) }),
        ("HeadersPlugin", { HeadersPlugin(["X-Api-Key": "canary"], scope: scope) }),
        ("HeadersPlugin, closure", { HeadersPlugin(scope: scope) { _ in ["X-Api-Key": "canary"] } }),
        (
            "SigningPlugin",
            { SigningPlugin(scope: scope) { request, _ in try request.setHeader("canary", for: "X-Sign") } }
        ),
        ("TokenRefreshPlugin", { TokenRefreshPlugin(scope: scope) { _, _ in Token(accessToken: "canary") } }),
    ]

    private struct Token: TokenCredential {
        let accessToken: String
        var expiry: Date? { nil }
    }

    @Test("G06: a credential is sent only to the hosts that are named", arguments: setters.indices)
    func hosts(index: Int) async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<URLTarget>(transport: transport, plugins: [Self.setters[index].make()])
        #expect(provider.explain().findings.isEmpty)
        for (host, isNamed) in [
            ("api.example.com", true), ("api.example.com:8443", true), ("eu.shop.test", true), ("evil.test", false),
            ("api.example.com.evil.test", false), ("example.com", false),
        ] {
            var target = URLTarget("https://\(host)/")
            target.authorizationType = .bearer
            _ = try await provider.request(target)
            let sent = try #require(transport.sent.last)
            let names = ["Authorization", "X-Api-Key", "X-Sign"].compactMap { HTTPField.Name($0) }
            #expect(names.contains { sent.headers.contains($0) } == isNamed, "\(Self.setters[index].name) \(host)")
        }
    }

    @Test("G06: without named hosts, a client of URLTarget has a finding for each of them")
    func unnamed() {
        let setters: [(plugin: any PluginType, severity: OrderRule.Severity)] = [
            (AccessTokenPlugin { _ in "canary" }, .hint),
            (BasicAuthPlugin(username: "ann", password: "canary"), .leak),
            (HeadersPlugin(["X-Api-Key": "canary"]), .hint),
            (SigningPlugin { _, _ in }, .leak),
            (TokenRefreshPlugin { _, _ in Token(accessToken: "canary") }, .hint),
            (CredentialsPlugin { _ in nil }, .leak),
            (CredentialsPlugin(account: { _ in "" }, credential: { _, _ in nil }), .leak),
        ]
        for setter in setters {
            let provider = Provider<URLTarget>(transport: ScriptedTransport([]), plugins: [setter.plugin])
            let found = provider.explain().findings + provider.explain().hints
            #expect(found.map(\.id) == ["credential-to-every-host"])
            #expect(found.map(\.severity) == [setter.severity], "\(setter.plugin.name)")
        }
    }

    @Test("G06: the closure of CredentialsPlugin sees the origin that asks")
    func origin() async throws {
        let asked = Mutex<[String]>([])
        let plugin = CredentialsPlugin(scope: Self.scope) { challenge in
            asked.withLock { $0.append("\(challenge.origin?.description ?? "none")") }
            return PasswordCredential(username: "ann", password: "canary")
        }
        let transport = ScriptedTransport { request, _ in
            request.headers.contains(.authorization)
                ? .status(200) : .status(401, headers: [.wwwAuthenticate: "Basic realm=\"a\""])
        }
        let provider = Provider<URLTarget>(transport: transport, plugins: [plugin])
        for url in ["https://api.example.com/", "https://evil.test/"] {
            var target = URLTarget(url)
            target.validationType = .anyStatus
            _ = try await provider.request(target)
        }
        #expect(asked.withLock { $0 } == ["https://api.example.com"])
        #expect(transport.sent.map { $0.headers.contains(.authorization) } == [false, true, false])
    }
}
