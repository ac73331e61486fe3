import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Order rules", .watched)
struct OrderRuleTests {
    struct Plugin: CapabilityDeclaring, Stage.WillSend {
        let name: String
        let capabilities: Set<PluginCapability>
        var orderRules: [OrderRule] = []

        func willSend(_ request: PipelineRequest, context: PipelineContext) {}
    }

    static let audits = PluginCapability("audits")

    private struct Capable: Transport {
        let decodesContent = false
        let capabilities: Set<PluginCapability>

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            PipelineResponse(request: request, statusCode: 200)
        }
    }

    static func described(
        _ plugins: any PluginType...,
        transportCapabilities: Set<PluginCapability> = []
    ) -> PipelineDescription {
        let transport = Capable(capabilities: transportCapabilities)
        let configuration = ProviderConfiguration(findings: .report { _ in })
        return Provider<TestTarget>(transport: transport, plugins: plugins, configuration: configuration).explain()
    }

    /// The findings or notes of a rule.
    private func matches(_ rule: OrderRule, _ description: PipelineDescription) -> [PipelineDescription.Finding] {
        (rule.severity == .hint ? description.hints : description.findings).filter { $0.id == rule.id }
    }

    @Test("A rule matches plugins by capability alone, and only in the wrong order", arguments: OrderRule.standard)
    func standard(rule: OrderRule) throws {
        for (subject, other) in rule.subject.flatMap({ subject in rule.other.map { (subject, $0) } }) {
            let own = Plugin(name: "Own", capabilities: [subject])
            guard other != .leavesTLSVersion else {
                #expect(matches(rule, Self.described(own, transportCapabilities: [other])).count == 1)
                #expect(matches(rule, Self.described(own)).isEmpty)
                continue
            }
            let theirs = Plugin(name: "Theirs", capabilities: [other])
            let isInside = rule.place == .inside
            let wrong = isInside ? Self.described(theirs, own) : Self.described(own, theirs)
            let found = try #require(matches(rule, wrong).first)
            #expect(found.plugins == ["Own", "Theirs"])
            #expect(found.message.hasPrefix("Own is \(rule.place.rawValue) Theirs: \(rule.consequence)"))
            #expect((found.remedy == nil) == (rule.severity == .hint && rule.remedy == nil))
            // A rule about two plugins of the same kind matches in both orders.
            let isTwin = subject == other
            #expect(
                matches(rule, isInside ? Self.described(own, theirs) : Self.described(theirs, own)).isEmpty != isTwin
            )
            for exempt in rule.exempt {
                let exempted = Plugin(name: "Exempt", capabilities: [other, exempt])
                #expect(matches(rule, isInside ? Self.described(exempted, own) : Self.described(own, exempted)).isEmpty)
            }
        }
    }

    @Test("Identifiers are unique and consist of lowercase words")
    func identifiers() {
        let ids = OrderRule.standard.map(\.id)
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.wholeMatch(of: /[a-z]+(-[a-z]+)+/) != nil })
    }

    @Test("A rule can report a missing plugin")
    func missing() {
        let rule = OrderRule(
            "audit-without-signature",
            [Self.audits],
            .without,
            [.signs],
            consequence: "nothing is audited",
            severity: .hint
        )
        let audit = Plugin(name: "Audit", capabilities: [Self.audits], orderRules: [rule])
        let signer = Plugin(name: "Signer", capabilities: [.signs])
        #expect(
            Self.described(audit).hints.map(\.message) == [
                "Audit is in a stack without a plugin that signs: nothing is audited"
            ]
        )
        #expect(Self.described(audit).findings.isEmpty)
        #expect(Self.described(audit, signer).hints.isEmpty)
        #expect(Self.described(signer, audit).hints.isEmpty)
    }
}
