import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Findings", .watched)
struct PipelineDescriptionFindingsTests {
    @Test("Interceptors and plugins that act on calls are recognized without a declaration")
    func derived() {
        let share = OrderRuleTests.Plugin(name: "Share", capabilities: [.sharesResponses])
        let span = OrderRuleTests.Plugin(name: "Span", capabilities: [.spansCalls])
        let interceptor = PluginStack.intercept(name: "wait") { request, _, next in try await next(request) }
        #expect(OrderRuleTests.described(interceptor, span).hints.map(\.id) == ["span-inside-interceptor"])
        let work: [any PluginType] = [interceptor, .prepare { _, _ in }, .process { _, _ in }]
        for plugin in work {
            #expect(OrderRuleTests.described(share, plugin).hints.map(\.id) == ["sharing-outside-work"])
        }
        #expect(OrderRuleTests.described(share, .willSend { _, _ in }, .didFinish { _, _ in }).hints.isEmpty)
    }

    @Test("All plugins on the wrong side are reported in one finding")
    func several() {
        let retry = OrderRuleTests.Plugin(name: "Retry", capabilities: [.retries])
        let first = OrderRuleTests.Plugin(name: "First", capabilities: [.setsCredential])
        let second = OrderRuleTests.Plugin(name: "Second", capabilities: [.signs])
        let findings = OrderRuleTests.described(first, second, retry).findings
        #expect(findings.map(\.plugins) == [["Retry", "First", "Second"]])
        #expect(findings.first?.message.hasSuffix("; move Retry outside First, Second") == true)
        #expect(findings.map(\.positions) == [[3, 1, 2]])
    }

    @Test("A finding has separate parts, and positions for plugins only, not for the transport")
    func parts() throws {
        let signer = OrderRuleTests.Plugin(name: "Signer", capabilities: [.signs])
        let tls = OrderRuleTests.described(signer, transportCapabilities: [.leavesTLSVersion])
        let note = try #require(tls.hints.first)
        #expect(note.id == "credential-over-any-tls")
        #expect(note.plugins == ["Signer", "Capable"])
        #expect(note.positions == [1])
        #expect(note.problem == "Signer is outside Capable")
        #expect(note.consequence == "the machine's TLS library decides whether a server may use TLS 1.0 or 1.1")
        let remedy = try #require(note.remedy)
        #expect(note.message == "\(note.problem): \(note.consequence); \(remedy)")
        let line = "Signer (1) is outside Capable: \(note.consequence); \(remedy)"
        #expect("\(note)" == "hint credential-over-any-tls: \(line); see Documentation/Findings.md of Pipeline")
        let coder = OrderRuleTests.Plugin(name: "Coder", capabilities: [.codesContent])
        let span = OrderRuleTests.Plugin(name: "Span", capabilities: [.spansCalls])
        let interceptor = PluginStack.intercept(name: "wait") { request, _, next in try await next(request) }
        let plain = try #require(OrderRuleTests.described(interceptor, span).hints.first)
        #expect(plain.remedy == nil)
        #expect(plain.message == "\(plain.problem): \(plain.consequence)")
        let token = OrderRuleTests.Plugin(name: "Token", capabilities: [.setsAccessToken])
        let twice = try #require(OrderRuleTests.described(coder, token, token).findings.first)
        #expect(twice.positions == [3, 2])
        #expect(twice.problem == "Token is used twice")
        #expect(twice.remedy == "keep one of them")
        #expect("\(twice)".contains("Token (3) is inside Token (2): "))
    }

    @Test("A plugin can declare its own rules, and the same rule of two plugins counts once")
    func own() {
        let rule = OrderRule(
            "audit-inside-cache",
            [OrderRuleTests.audits],
            .inside,
            [.caches],
            consequence: "cached responses are not audited",
            remedy: "swap them"
        )
        let audit = OrderRuleTests.Plugin(name: "Audit", capabilities: [OrderRuleTests.audits], orderRules: [rule])
        let cache = OrderRuleTests.Plugin(name: "Cache", capabilities: [.caches], orderRules: [rule])
        let findings = OrderRuleTests.described(cache, audit).findings
        #expect(findings.map(\.id) == ["audit-inside-cache"])
        #expect(findings.first?.message == "Audit is inside Cache: cached responses are not audited; swap them")
        #expect(OrderRuleTests.described(audit, cache).findings.isEmpty)
    }
}
