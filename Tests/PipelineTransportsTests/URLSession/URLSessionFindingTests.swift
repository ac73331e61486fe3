#if canImport(FoundationNetworking)
import Pipeline
import PipelineAuth
import PipelineSigning
import Synchronization
import TestSupport
import Testing

@Suite("URLSessionTransport on Linux: what explain() reports", .watched)
struct URLSessionFindingTests {
    private static let credentials: [any PluginType] = [
        AccessTokenPlugin { _ in "token" },
        BasicAuthPlugin(username: "user", password: "password"),
        CredentialsPlugin { _ in nil },
        SigningPlugin(sign: { _, _ in }),
        .prepare(name: "own", capabilities: [.setsCredential]) { _, _ in },
    ]

    private static func hints(_ transport: any Transport, _ plugins: [any PluginType]) -> [String] {
        let found = Mutex<[String]>([])
        let policy = ProviderConfiguration.FindingPolicy.report { finding in found.withLock { $0.append(finding.id) } }
        let configuration = ProviderConfiguration(findings: policy)
        let provider = Provider<Probe>(transport: transport, plugins: plugins, configuration: configuration)
        // A hint is not a finding that is reported when the provider is made.
        #expect(!found.withLock { $0.contains("credential-over-any-tls") })
        return provider.explain().hints.filter { $0.id == "credential-over-any-tls" }.map { $0.plugins[0] }
    }

    @Test("A4: each plugin that sets a credential has a hint about the version of TLS", arguments: credentials)
    func given(plugin: any PluginType) {
        #expect(Self.hints(URLSessionTransport(), [plugin]) == [plugin.name])
        #expect(Self.hints(URLSessionTransport(), [.standard { plugin }]) == [plugin.name])
        #expect(Self.hints(StubTransport(wrapping: URLSessionTransport()), [plugin]) == [plugin.name])
    }

    @Test("A4: without a credential, or over a transport that does not use the machine's TLS, there is no hint")
    func silent() {
        #expect(Self.hints(URLSessionTransport(), [.standard]).isEmpty)
        #expect(Self.hints(URLSessionTransport(), [LoggingPlugin(level: .error), RetryPlugin()]).isEmpty)
        #expect(Self.hints(StubTransport(), Self.credentials).isEmpty)
    }
}
#endif
