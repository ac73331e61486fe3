import AsyncHTTPClient
import NIOSSL
import TestSupport
import Testing

@testable import Pipeline
@testable import PipelineTransports

@Suite("Trust policies of AsyncHTTPClientTransport", .watched)
struct AsyncHTTPClientTrustTests {
    private static let pins: [TrustPin] = [
        TrustPin(subjectPublicKeyInfo: [1]), TrustPin(subjectPublicKeyInfo: [2]),
    ]

    @Test("A rule verifies certificates, lowers no minimum TLS version and opens no second connection for a pin")
    func configuration() throws {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.tlsConfiguration?.certificateVerification = .none
        configuration.tlsConfiguration?.minimumTLSVersion = .tlsv13
        configuration.connectionPool.retryConnectionEstablishment = true
        let pinned = TrustPolicy.Rule.system.pinned(to: Self.pins)
        let policy = TrustPolicy(["a.test": .system.minimumTLSVersion(.v1_2), "b.test": pinned])
        let rules = AsyncHTTPClientTrust(policy, nil).rules(configuration) { _, settings, _ in settings }
        for host in ["a.test", "b.test"] {
            let settings = try #require(rules.value(for: host))
            #expect(settings.tlsConfiguration?.certificateVerification == .fullVerification)
            #expect(settings.tlsConfiguration?.minimumTLSVersion == .tlsv13)
            #expect(settings.connectionPool.retryConnectionEstablishment == (host == "a.test"))
        }
    }
}
