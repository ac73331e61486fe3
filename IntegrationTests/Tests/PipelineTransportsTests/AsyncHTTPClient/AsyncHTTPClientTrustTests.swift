import AsyncHTTPClient
import NIOSSL
import Pipeline
import TestSupport
import Testing

@testable import PipelineCore
@testable import PipelineTransports

@Suite("Trust policies of AsyncHTTPClientTransport", .watched)
struct AsyncHTTPClientTrustTests {
    private static let pins: [TrustPolicy.Pin] = [
        TrustPolicy.Pin(subjectPublicKeyInfo: [1]), TrustPolicy.Pin(subjectPublicKeyInfo: [2]),
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

    @Test(
        "G01: a name needs the same name or a wildcard for its first label, an address needs the same address",
        arguments: [
            ("api.example.com", ["api.example.com"], true), ("API.example.com.", ["api.EXAMPLE.com"], true),
            ("api.example.com", ["*.example.com"], true), ("a.b.example.com", ["*.example.com"], false),
            ("example.com", ["*.example.com"], false), (".example.com", ["*.example.com"], false),
            ("example.com", ["*.com"], false), ("com", ["*"], false), ("api.example.com", ["*pi.example.com"], false),
            ("api.example.com", ["api.*.com"], false), ("api.example.com", ["*.*.com"], false),
            ("api.example.com", ["api.example.com."], false), ("api.example.com", [], false), ("", [""], false),
            ("127.0.0.1", ["127.0.0.1"], false), ("a.0.0.1", ["*.0.0.1"], true), ("127.0.0.1", ["*.0.0.1"], false),
        ] as [(String, [String], Bool)]
    )
    func names(host: String, names: [String], isValid: Bool) {
        #expect(AsyncHTTPClientPeerName.isValid(host, names: names, addresses: [[93, 184, 216, 34]]) == isValid)
    }

    @Test(
        "G01: an address is compared in binary form, and never with a name",
        arguments: [
            ("127.0.0.1", [127, 0, 0, 1], true), ("127.0.0.2", [127, 0, 0, 1], false),
            ("127.1", [127, 0, 0, 1], false),
            ("::1", Array(repeating: 0, count: 15) + [1], true), ("0:0::1", Array(repeating: 0, count: 15) + [1], true),
            ("::2", Array(repeating: 0, count: 15) + [1], false), ("localhost", [127, 0, 0, 1], false),
            ("127.0.0.1", [127, 0, 0], false), ("127.0.0.1", [], false),
        ] as [(String, [UInt8], Bool)]
    )
    func addresses(host: String, address: [UInt8], isValid: Bool) {
        #expect(AsyncHTTPClientPeerName.isValid(host, names: ["example.com"], addresses: [address]) == isValid)
    }
}
