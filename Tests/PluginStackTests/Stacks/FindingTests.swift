import Pipeline
import PipelineAuth
import PipelineCaching
import PipelineSigning
import PipelineTesting
import TestSupport
import Testing

@Suite("Findings between plugins, built-in or not", .watched)
struct FindingTests {
    /// A plugin of another author.
    private struct Stranger: CapabilityDeclaring, Stage.Prepare {
        let name: String
        let capabilities: Set<PluginCapability>

        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {}
    }

    private static let retrying: [any PluginType] = [
        RetryPlugin(), Stranger(name: "StrangeRetry", capabilities: [.retries]),
    ]

    private static let sharing: [any PluginType] = [
        DeduplicationPlugin(), Stranger(name: "StrangeSharing", capabilities: [.sharesResponses]),
    ]

    private static let authenticating: [any PluginType] = [
        AccessTokenPlugin { _ in "token" },
        BasicAuthPlugin(username: "user", password: "password"),
        TokenRefreshPlugin(credential: Session(accessToken: "token")) { credential, _ in credential },
        Stranger(name: "StrangeCredential", capabilities: [.setsCredential]),
        Stranger(name: "StrangeSigner", capabilities: [.signs]),
        .prepare(name: "closure", capabilities: [.setsCredential]) { _, _ in },
    ]

    private func findings(_ plugins: [any PluginType]) -> [PipelineDescription.Finding] {
        let provider = Provider<Ask>(transport: ScriptedTransport(always: .status(200)), plugins: plugins)
        return provider.explain().findings
    }

    /// Expects one finding in this order and none in the other.
    private func expect(_ id: String, _ subject: any PluginType, _ place: OrderRule.Place, _ other: any PluginType) {
        let stack = place == .inside ? [other, subject] : [subject, other]
        let found = findings(stack)
        #expect(found.map(\.id) == [id])
        #expect(found.map(\.plugins) == [[subject.name, other.name]])
        let otherSide = place == .inside ? "outside" : "inside"
        #expect(found.first?.remedy == "move \(subject.name) \(otherSide) \(other.name)")
        #expect(findings(stack.reversed()).isEmpty)
    }

    @Test("A plugin that sets a credential belongs outside plugins that share or cache", arguments: authenticating)
    func sharing(plugin: any PluginType) {
        let caching = Stranger(name: "StrangeCache", capabilities: [.caches])
        for sharing in Self.sharing + [caching] { expect("sharing-outside-credential", sharing, .outside, plugin) }
    }

    @Test("OAuthPlugin sets its token where TokenRefreshPlugin does: in the standard stack, nothing is found")
    func oauth() {
        let oauth = OAuthPlugin(
            .discovered(at: OAuthBench.issuer),
            client: .public(id: "app"),
            grant: OAuthBench.browser(),
            transport: ScriptedTransport(always: .status(200))
        )
        #expect(findings([.standard { oauth }]).isEmpty)
        #expect(findings([DeduplicationPlugin(), oauth]).map(\.id) == ["sharing-outside-credential"])
        #expect(findings([oauth, DeduplicationPlugin()]).isEmpty)
    }

    @Test("A plugin that sets a credential belongs inside plugins that retry", arguments: authenticating)
    func retrying(plugin: any PluginType) {
        for retrying in Self.retrying { expect("retry-inside-credential", retrying, .inside, plugin) }
    }

    @Test("CredentialsPlugin works at any position; with accounts, it belongs outside plugins that share responses")
    func credentials() {
        let accounts = CredentialsPlugin(account: { _ in "" }, credential: { _, _ in nil })
        for sharing in Self.sharing {
            #expect(findings([sharing, accounts]).map(\.id) == ["sharing-outside-identity"])
            #expect(findings([accounts, sharing]).isEmpty)
        }
        let others = Self.sharing + Self.retrying + [UnauthorizedPlugin { _, _ in }]
        for other in others {
            let one = CredentialsPlugin { _ in nil }
            #expect(findings([one, other]).isEmpty)
            #expect(findings([other, one]).isEmpty)
        }
        for retrying in Self.retrying { #expect(findings([accounts, retrying]).isEmpty) }
    }

    private struct OneKey: RequestSigner {
        let hasOneKey = true
        func sign(_ request: inout PipelineRequest, context: PipelineContext) async throws {}
    }

    /// Plugins that set a credential on the hop, with the finding inside a private cache if its account is unknown.
    private static let onHop: [(plugin: any PluginType, cacheFinding: String?)] = [
        (CredentialsPlugin { _ in nil }, "cache-outside-challenge"),
        (CredentialsPlugin(account: { _ in "" }, credential: { _, _ in nil }), nil),
        (SigningPlugin { _, _ in }, "cache-of-unknown-account"),
        (SigningPlugin(account: { _ in "" }, sign: { _, _ in }), nil),
        (SigningPlugin(OneKey()), nil),
    ]

    @Test(
        "G07: a credential of an unknown account has a finding inside a cache, and a hint beside a plugin that shares",
        arguments: onHop.indices
    )
    func unknownAccount(index: Int) {
        let (plugin, cacheFinding) = Self.onHop[index]
        func ids(_ other: any PluginType) -> [Set<String>] {
            [[plugin, other], [other, plugin]].map { plugins in
                let provider = Provider<Ask>(transport: ScriptedTransport([]), plugins: plugins)
                return Set((provider.explain().findings + provider.explain().hints).map(\.id))
            }
        }
        let inAndOut = ids(CachePlugin())
        for id in ["cache-outside-challenge", "cache-of-unknown-account"] {
            #expect(inAndOut.map { $0.contains(id) } == [false, id == cacheFinding])
        }
        for cache in [CachePlugin(rules: .shared), CachePlugin(account: { _ in "" })] {
            #expect(ids(cache).allSatisfy { !$0.contains("cache-of-unknown-account") })
        }
        for sharing in Self.sharing {
            #expect(ids(sharing).allSatisfy { $0.contains("sharing-of-unknown-account") == (cacheFinding != nil) })
        }
        #expect(ids(RetryPlugin()) == [[], []])
    }

    @Test("HeadersPlugin belongs outside plugins that share responses")
    func fields() {
        for sharing in Self.sharing {
            expect("sharing-outside-credential", sharing, .outside, HeadersPlugin(["A": "b"]))
        }
    }

    @Test("A plugin that acts for each caller belongs outside plugins that share responses")
    func delivery() {
        let plugins: [any PluginType] = [
            MinimumDurationPlugin(.zero), UnauthorizedPlugin { _, _ in },
            Stranger(name: "StrangeDelay", capabilities: [.delaysResults]),
        ]
        for plugin in plugins {
            for sharing in Self.sharing { expect("sharing-outside-delivery", sharing, .outside, plugin) }
        }
    }

    @Test("A plugin that spans a call belongs outside plugins that retry or share responses")
    func spans() {
        let plugins: [any PluginType] = [
            TimeoutPlugin(total: .seconds(1)), ActivityPlugin { _ in },
            Stranger(name: "StrangeSpan", capabilities: [.spansCalls]),
        ]
        for plugin in plugins {
            for retrying in Self.retrying { expect("span-inside-retry", plugin, .inside, retrying) }
            for sharing in Self.sharing { expect("span-inside-sharing", plugin, .inside, sharing) }
        }
    }

    @Test("A plugin that delays results belongs outside plugins that retry")
    func delays() {
        for retrying in Self.retrying {
            expect("delay-inside-retry", MinimumDurationPlugin(.zero), .inside, retrying)
        }
    }

    @Test("UnauthorizedPlugin belongs outside plugins that answer challenges")
    func unauthorized() {
        let stranger = Stranger(name: "StrangeChallenge", capabilities: [.answersChallenges])
        for plugin in [Self.authenticating[2], stranger] {
            expect("report-inside-challenge", UnauthorizedPlugin { _, _ in }, .inside, plugin)
        }
    }

    @Test("explain() reports two plugins with the same purpose, built-in or not")
    func twins() {
        let twins: [(String, PluginCapability, [any PluginType])] = [
            ("retry-inside-retry", .retries, [RetryPlugin()]),
            ("sharing-inside-sharing", .sharesResponses, [DeduplicationPlugin()]),
            ("token-inside-token", .setsAccessToken, [Self.authenticating[0], Self.authenticating[2]]),
            ("coding-inside-coding", .codesContent, [GzipPlugin()]),
        ]
        for (id, capability, plugins) in twins {
            for plugin in plugins {
                let stranger = Stranger(name: "Stranger", capabilities: [capability])
                for stack in [[plugin, stranger], [stranger, plugin], [plugin, plugin]] {
                    let found = findings(stack).filter { $0.id == id }
                    #expect(found.map(\.plugins) == [[stack[1].name, stack[0].name]])
                    #expect(found.first?.remedy == "keep one of them")
                }
            }
        }
    }
}
