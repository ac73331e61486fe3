import Pipeline
import PipelineTesting
import Testing

@Suite("Order rules")
struct OrderRuleTests {
    private struct Plugin: CapabilityDeclaring, Stage.WillSend {
        let name: String
        let capabilities: Set<PluginCapability>
        var orderRules: [OrderRule] = []

        func willSend(_ request: PipelineRequest, context: PipelineContext) {}
    }

    private static let audits = PluginCapability("audits")

    private func described(_ plugins: any PluginType..., decodesContent: Bool = false) -> PipelineDescription {
        let transport = ScriptedTransport(always: .status(200), decodesContent: decodesContent)
        return Provider<TestTarget>(transport: transport, plugins: plugins).explain()
    }

    /// The matches of a rule.
    private func matches(_ rule: OrderRule, _ description: PipelineDescription) -> [PipelineDescription.Finding] {
        (rule.severity == .note ? description.notes : description.findings).filter { $0.id == rule.id }
    }

    @Test("A plugin that declares a capability is found by it alone, on one side", arguments: OrderRule.standard)
    func standard(rule: OrderRule) throws {
        for (subject, other) in rule.subject.flatMap({ subject in rule.other.map { (subject, $0) } }) {
            let own = Plugin(name: "Own", capabilities: [subject])
            guard other != .decodesContent else {
                #expect(matches(rule, described(own, decodesContent: true)).count == 1)
                #expect(matches(rule, described(own)).isEmpty)
                continue
            }
            let theirs = Plugin(name: "Theirs", capabilities: [other])
            let isInside = rule.place == .inside
            let wrong = isInside ? described(theirs, own) : described(own, theirs)
            let found = try #require(matches(rule, wrong).first)
            #expect(found.plugins == ["Own", "Theirs"])
            #expect(found.message.hasPrefix("Own is \(rule.place.rawValue) Theirs: \(rule.consequence)"))
            #expect((found.remedy == nil) == (rule.severity == .note))
            // A rule about two of a kind holds in both orders.
            let isTwin = subject == other
            #expect(matches(rule, isInside ? described(own, theirs) : described(theirs, own)).isEmpty != isTwin)
            for exempt in rule.exempt {
                let exempted = Plugin(name: "Exempt", capabilities: [other, exempt])
                #expect(matches(rule, isInside ? described(exempted, own) : described(own, exempted)).isEmpty)
            }
        }
    }

    @Test("Identifiers are unique lowercase words")
    func identifiers() {
        let ids = OrderRule.standard.map(\.id)
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.wholeMatch(of: /[a-z]+(-[a-z]+)+/) != nil })
    }

    @Test("Interceptors, and plugins that act on calls, are known without a declaration")
    func derived() {
        let span = Plugin(name: "Span", capabilities: [.spansCalls])
        let share = Plugin(name: "Share", capabilities: [.sharesResponses])
        let interceptor = InterceptPlugin.intercept(name: "wait") { request, _, next in try await next(request) }
        #expect(described(interceptor, span).notes.map(\.id) == ["span-inside-interceptor"])
        let work: [any PluginType] = [interceptor, .prepare { _, _ in }, .process { _, _ in }]
        for plugin in work { #expect(described(share, plugin).notes.map(\.id) == ["sharing-outside-work"]) }
        #expect(described(share, .willSend { _, _ in }, .didFinish { _, _ in }).notes.isEmpty)
    }

    @Test("All plugins on the wrong side are one finding")
    func several() {
        let retry = Plugin(name: "Retry", capabilities: [.retries])
        let first = Plugin(name: "First", capabilities: [.setsCredential])
        let second = Plugin(name: "Second", capabilities: [.signs])
        let findings = described(first, second, retry).findings
        #expect(findings.map(\.plugins) == [["Retry", "First", "Second"]])
        #expect(findings.first?.message.hasSuffix("; move Retry outside First, Second") == true)
    }

    @Test("A plugin brings rules of its own, and the same rule of two plugins counts once")
    func own() {
        let rule = OrderRule(
            "audit-inside-cache",
            [Self.audits],
            .inside,
            [.caches],
            consequence: "cached responses are not audited",
            remedy: "swap them"
        )
        let audit = Plugin(name: "Audit", capabilities: [Self.audits], orderRules: [rule])
        let cache = Plugin(name: "Cache", capabilities: [.caches], orderRules: [rule])
        let findings = described(cache, audit).findings
        #expect(findings.map(\.id) == ["audit-inside-cache"])
        #expect(findings.first?.message == "Audit is inside Cache: cached responses are not audited; swap them")
        #expect(described(audit, cache).findings.isEmpty)
    }

    @Test("A rule may ask for a plugin that is missing")
    func missing() {
        let rule = OrderRule(
            "audit-without-signature",
            [Self.audits],
            .without,
            [.signs],
            consequence: "nothing is audited",
            severity: .note
        )
        let audit = Plugin(name: "Audit", capabilities: [Self.audits], orderRules: [rule])
        let signer = Plugin(name: "Signer", capabilities: [.signs])
        #expect(
            described(audit).notes.map(\.message) == [
                "Audit is in a stack without a plugin that signs: nothing is audited"
            ]
        )
        #expect(described(audit).findings.isEmpty)
        #expect(described(audit, signer).notes.isEmpty)
        #expect(described(signer, audit).notes.isEmpty)
    }
}
