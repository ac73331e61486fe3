#if canImport(Security)
import Foundation
import Pipeline
import TestSupport
import Testing

/// What URLSessionTransport expects of TLS on Apple platforms.
@Suite("TLS over URLSession on Apple platforms", .besideTLSServers, .realTime, .watched)
struct URLSessionTrustTests {
    private let authority: TrustPolicy.Rule
    private let (pin, other): (TrustPolicy.Pin, TrustPolicy.Pin)
    private let third = TrustPolicy.Pin(subjectPublicKeyInfo: [1])

    init() throws {
        authority = try .authorities(pem: try TLSServers.file(TLSServers.authority ?? ""))
        pin = try #require(TrustPolicy.Pin(TLSServers.pin))
        other = try #require(TrustPolicy.Pin(TLSServers.otherPin))
    }

    private func makeProvider(
        _ rule: TrustPolicy.Rule,
        _ identities: ClientIdentities? = nil
    ) -> Provider<SecureTarget> {
        let trust = TrustPolicy(["127.0.0.1": rule])
        return Provider(transport: URLSessionTransport(trust: trust, identities: identities))
    }

    private func target(_ server: String) -> SecureTarget {
        SecureTarget(baseURL: TLSServers.url(server), path: "/echo")
    }

    @Test("A rule trusts only its own authority, which the system does not trust")
    func authorities() async throws {
        #expect(try await makeProvider(authority).request(target("HTTP2")).statusCode == 200)
        #expect(await makeProvider(authority).failure(target("OTHER_CA"))?.code == .tls(.certificate))
        #expect(await makeProvider(.system).failure(target("HTTP2"))?.code == .tls(.certificate))
    }

    @Test("A certificate for another host is tls.hostName")
    func hostName() async {
        #expect(await makeProvider(authority).failure(target("WRONG_HOST"))?.code == .tls(.hostName))
    }

    /// If the second transport resumed a TLS session of the first, no challenge would arrive.
    @Test("A host with a pinned key is reached; over a transport with other pins, it is tls.pin immediately afterwards")
    func pins() async throws {
        let pinned = makeProvider(authority.pinned(to: [pin, other]))
        #expect(try await pinned.request(target("HTTP2")).statusCode == 200)
        let wrong = makeProvider(authority.pinned(to: [other, third]))
        #expect(await wrong.failure(target("HTTP2"))?.code == .tls(.pin))
    }

    @Test("A client identity from a PKCS#12 file that OpenSSL 3 has written is presented to the server")
    func identity() async throws {
        let identity = try ClientIdentity(pkcs12: try TLSServers.file(TLSServers.pkcs12), passphrase: "passphrase")
        let provider = makeProvider(authority, ClientIdentities(["127.0.0.1": identity]))
        #expect(try await provider.request(target("MUTUAL")).headers.text("X-Client") == "CN=client")
    }
}
#endif
