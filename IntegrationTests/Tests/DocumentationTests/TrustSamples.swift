import Foundation
import Pipeline
import TestSupport
import Testing

/// The samples of the guide TLS and trust.
enum TrustSamples {
    struct Monitor: Sendable {
        func record(_ report: TrustPolicy.Report) {}
    }

    static func pins(
        _ current: TrustPolicy.Pin,
        _ backup: TrustPolicy.Pin,
        _ expiry: Date,
        _ monitor: Monitor
    ) -> AsyncHTTPClientTransport {
        // sample: pins
        let trust = TrustPolicy(["api.example.com": .system.pinned(to: [current, backup], until: expiry)]) { report in
            monitor.record(report)
        }
        let transport = AsyncHTTPClientTransport(trust: trust)
        // end
        return transport
    }

    static func audit(_ current: TrustPolicy.Pin, _ backup: TrustPolicy.Pin) -> TrustPolicy {
        // sample: audit
        let audit = TrustPolicy(["api.example.com": .system.pinned(to: [current, backup], mode: .audit)]) { report in
            print(report.host, report.seenPin?.description ?? "unknown key")
        }
        // end
        return audit
    }

    static func authority(_ certificate: Data) throws -> AsyncHTTPClientTransport {
        // sample: authority
        let rule = try TrustPolicy.Rule.authorities(pem: certificate).minimumTLSVersion(.v1_3)
        let transport = AsyncHTTPClientTransport(trust: TrustPolicy(["*.internal.example.com": rule]))
        // end
        return transport
    }

    static func identity(
        _ chain: Data,
        _ key: Data,
        _ renewed: Data,
        _ passphrase: String
    ) throws -> AsyncHTTPClientTransport {
        // sample: identity
        let identities = ClientIdentities(["bank.example.com": try ClientIdentity(pemChain: chain, pemKey: key)])
        let transport = AsyncHTTPClientTransport(identities: identities)
        identities.set(try ClientIdentity(pkcs12: renewed, passphrase: passphrase), for: "bank.example.com")  // later
        // end
        return transport
    }
}

@Suite("The samples of the guide TLS and trust", .realTime, .watched)
struct TrustSamplesTests {
    private static let pins: [TrustPolicy.Pin] = [
        "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "sha256/ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
    ]

    @Test("A pinned host is not contacted over http, and other hosts are not affected by a rule")
    func pinned() async throws {
        let transport = TrustSamples.pins(Self.pins[0], Self.pins[1], .distantFuture, TrustSamples.Monitor())
        let provider = Provider<URLTarget>(transport: transport)
        let error = await pipelineError { _ = try await provider.request(URLTarget("http://api.example.com/")) }
        #expect(error?.code == .tls(.pin))
        let other = await pipelineError { _ = try await provider.request(URLTarget("http://127.0.0.1:1/")) }
        #expect(other?.code == .connect(.refused))
        try await transport.shutdown()
        _ = TrustSamples.audit(Self.pins[0], Self.pins[1])
    }

    @Test("Unreadable authorities and identities are refused, without their bytes")
    func unreadable() {
        let bytes = Data("-----BEGIN CERTIFICATE-----\nCANARY\n-----END CERTIFICATE-----".utf8)
        for work in [
            { _ = try TrustSamples.authority(bytes) },
            { _ = try TrustSamples.identity(bytes, bytes, bytes, "CANARY") },
        ] {
            let error = #expect(throws: PipelineError.self) { try work() }
            #expect(error?.code == .tls(.configuration))
            #expect(error.map { String(reflecting: $0).contains("CANARY") } == false)
        }
    }
}
