import Foundation
import Pipeline
import PipelineReplayTesting
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Findings when a provider is made", .watched)
struct FindingPolicyTests {
    private struct Sharing: Stage.Intercept, CapabilityDeclaring {
        var capabilities: Set<PluginCapability> { [.sharesResponses] }

        func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Stage.Next
        ) async throws -> PipelineResponse { try await next(request) }
    }

    private struct Credential: Stage.Prepare, CapabilityDeclaring {
        var capabilities: Set<PluginCapability> { [.setsCredential] }

        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {}
    }

    /// A plugin that writes warnings, or not.
    private final class Reporter: Stage.WillSend, WarningReporting {
        private let all = Mutex<[String]>([])
        private let isOn: Bool
        var warnings: [String] { all.withLock { $0 } }

        init(isOn: Bool) { self.isOn = isOn }

        func willSend(_ request: PipelineRequest, context: PipelineContext) {}

        func report(warning: String) -> Bool {
            guard isOn else { return false }
            all.withLock { $0.append(warning) }
            return true
        }
    }

    private static let wrong: [any PluginType] = [Sharing(), Sharing(), Credential()]

    private func make<Target: TargetType>(
        _ policy: ProviderConfiguration.FindingPolicy,
        _ plugins: [any PluginType] = wrong,
        for target: Target.Type = TestTarget.self
    ) {
        let configuration = ProviderConfiguration(findings: policy)
        _ = Provider<Target>(transport: ScriptedTransport([]), plugins: plugins, configuration: configuration)
    }

    private func found<Target: TargetType>(
        _ plugins: [any PluginType] = wrong,
        for target: Target.Type = TestTarget.self,
        ignoring id: String = "none"
    ) -> [String] {
        let found = Mutex<[String]>([])
        let policy = ProviderConfiguration.FindingPolicy.report { finding in
            found.withLock { $0.append("\(finding.severity) \(finding.id)") }
        }
        make(policy.ignoring(id), plugins, for: target)
        return found.withLock { $0 }
    }

    @Test("A2: a provider reports its leaks and faults once, and no hints")
    func reported() {
        let leak = "leak sharing-outside-credential"
        #expect(found() == [leak, leak, "fault sharing-inside-sharing"])
        #expect(found([Credential(), Sharing()]).isEmpty)
        #expect(found(ignoring: "sharing-outside-credential") == ["fault sharing-inside-sharing"])
    }

    @Test("A2: the first plugin that can report does so in place of standard error")
    func reporter() {
        let (off, first, second) = (Reporter(isOn: false), Reporter(isOn: true), Reporter(isOn: true))
        make(.warn, [off, first, second] + Self.wrong)
        let leak = "Provider<TestTarget>: leak sharing-outside-credential: "
        let heads = [leak, leak, "Provider<TestTarget>: fault sharing-inside-sharing: "]
        #expect(first.warnings.count == 3)
        #expect(zip(first.warnings, heads).allSatisfy { $0.hasPrefix($1) })
        #expect(off.warnings.isEmpty && second.warnings.isEmpty)
    }

    @Test("A2: the policy of a task replaces that of a configuration")
    func replaced() {
        let count = Mutex(0)
        ProviderConfiguration.FindingPolicy.$override.withValue(.report { _ in count.withLock { $0 += 1 } }) {
            make(.stop)
        }
        #expect(count.withLock { $0 } == 3)
    }

    @Test("A2: the trait makes a test with a finding fail", .findings(.fail))
    func trait() {
        withKnownIssue { make(.warn) }
        make(.warn, [Credential(), Sharing()])
    }

    @Test("A2: the trait can also ignore findings", .findings(.ignore))
    func ignored() { make(.stop) }

    @Test("A2: with the policy stop, a finding stops the program")
    func stopped() async {
        await #expect(processExitsWith: .failure) {
            let configuration = ProviderConfiguration(findings: .stop)
            let plugins: [any PluginType] = [Sharing(), Credential()]
            _ = Provider<TestTarget>(transport: ScriptedTransport([]), plugins: plugins, configuration: configuration)
        }
    }

    @Test(
        "G06: a credential in a client of several hosts has a finding unless its hosts are named",
        arguments: [
            ([.setsCredential], "leak"), ([.signs], "leak"), ([.answersChallenges], "leak"),
            ([.setsCredential, .setsAccessToken, .answersChallenges], "hint"), ([.setsFields], "hint"),
            ([.retries], nil),
        ] as [(Set<PluginCapability>, String?)]
    )
    func hosts(capabilities: Set<PluginCapability>, severity: String?) {
        func findings<Target: TargetType>(_ more: Set<PluginCapability>, _: Target.Type) -> [String] {
            let plugins = [Setting(capabilities: capabilities.union(more))]
            let description = Provider<Target>(transport: ScriptedTransport([]), plugins: plugins).explain()
            let all = description.findings + description.hints
            return all.filter { $0.id == "credential-to-every-host" }.map { "\($0.severity)" }
        }
        #expect(findings([], URLTarget.self) == [severity].compactMap(\.self))
        #expect(findings([], MultiTarget.self) == (severity == nil ? [] : ["hint"]))
        #expect(findings([.limitsHosts], URLTarget.self).isEmpty)
        #expect(findings([], TestTarget.self).isEmpty)
    }

    @Test("A plugin with an access token has a hint if the provider's target cannot ask for one")
    func tokenWithoutTarget() {
        func hints<Target: TargetType>(_ capabilities: Set<PluginCapability>, _: Target.Type) -> [String] {
            let plugins = [Setting(capabilities: capabilities)]
            let description = Provider<Target>(transport: ScriptedTransport([]), plugins: plugins).explain()
            return description.hints.filter { $0.id == "token-without-target" }.map(\.message)
        }
        let text =
            "Setting is in a provider of TestTarget, which does not conform to AccessTokenAuthorizable: "
            + "no request gets a token; if requests need one, conform TestTarget to AccessTokenAuthorizable"
        #expect(hints([.setsCredential, .setsAccessToken], TestTarget.self) == [text])
        #expect(hints([.setsCredential], TestTarget.self).isEmpty)
        #expect(hints([.setsCredential, .setsAccessToken], Asking.self).isEmpty)
        #expect(hints([.setsCredential, .setsAccessToken], MultiTarget.self).isEmpty)
        #expect(hints([.setsCredential, .setsAccessToken], URLTarget.self).isEmpty)
    }

    private struct Asking: TargetType, AccessTokenAuthorizable {
        var baseURL: URL { Endpoint.url("https://api.example.com") }
        var path: String { "items" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
        var authorizationType: AuthorizationType? { .bearer }
    }

    private struct Setting: Stage.Prepare, CapabilityDeclaring {
        let capabilities: Set<PluginCapability>

        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {}
    }
}
