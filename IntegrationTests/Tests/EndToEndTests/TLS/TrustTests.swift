import AsyncHTTPClient
import Foundation
import Logging
import NIOSSL
import Pipeline
import Synchronization
import TestSupport
import Testing

@Suite("TLS: pins, own authorities and client identities", .besideTLSServers, .realTime, .watched)
struct TrustTests {
    /// The version that AsyncHTTPClient offers; nginx accepts both.
    enum Version: String, CaseIterable, CustomTestStringConvertible {
        case http1 = "HTTP/1.1"
        case http2 = "HTTP/2.0"
        var testDescription: String { rawValue }
    }

    /// What a policy has reported.
    private final class Reports: Sendable {
        private let all = Mutex<[TrustPolicy.Report]>([])
        var outcomes: [TrustPolicy.Report.Outcome] { all.withLock { $0.map(\.outcome) } }
        var pins: [TrustPolicy.Pin?] { all.withLock { $0.map(\.seenPin) } }
        var hosts: Set<String> { all.withLock { Set($0.map(\.host)) } }
        func add(_ report: TrustPolicy.Report) { all.withLock { $0.append(report) } }
    }

    private let reports = Reports()
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
        _ version: Version,
        identities: ClientIdentities? = nil,
        connectionsPerHost: Int? = nil,
        plugins: [any PluginType] = []
    ) -> Provider<SecureTarget> {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        if version == .http1 { configuration.httpVersion = .http1Only }
        // Rules with their own authorities replace these.
        configuration.tlsConfiguration?.additionalTrustRoots = TLSServers.authority.map { [.file($0)] } ?? []
        let trust = TrustPolicy(["127.0.0.1": rule]) { [reports] in reports.add($0) }
        let transport = AsyncHTTPClientTransport(
            configuration: configuration,
            connectionsPerHost: connectionsPerHost,
            trust: trust,
            identities: identities
        )
        return Provider(transport: transport, plugins: plugins)
    }

    private func target(_ server: String = "HTTP2", _ path: String = "/echo") -> SecureTarget {
        SecureTarget(baseURL: TLSServers.url(server), path: path)
    }

    private func identity(_ name: String) throws -> ClientIdentity {
        let files = try TLSServers.identity(name)
        return try ClientIdentity(pemChain: try TLSServers.file(files.chain), pemKey: try TLSServers.file(files.key))
    }

    @Test("A rule trusts only its own authority, and only for its host", arguments: Version.allCases)
    func ownAuthority(version: Version) async throws {
        let other = try TrustPolicy.Rule.authorities(pem: try TLSServers.file(TLSServers.otherAuthority))
        let provider = makeProvider(other, version)
        let response = try await provider.request(target("OTHER_CA"))
        #expect(response.headers.text("X-Protocol") == version.rawValue)
        #expect(await provider.failure(target())?.code == .tls(.certificate))
        let url = try #require(URL(string: "https://localhost:\(TLSServers.url("OTHER_CA").port ?? 0)"))
        #expect(await provider.failure(SecureTarget(baseURL: url, path: "/"))?.code == .tls(.certificate))
        #expect(await makeProvider(.system, version).failure(target("OTHER_CA"))?.code == .tls(.certificate))
        #expect(reports.outcomes.isEmpty)
    }

    @Test("A key with a pin or a backup pin is accepted, and nothing is reported", arguments: Version.allCases)
    func rightPin(version: Version) async throws {
        for pins in [[pin, other], [other, pin], [third, other, pin]] {
            let provider = makeProvider(authority.pinned(to: pins), version)
            for _ in 0..<2 {
                let response = try await provider.request(target())
                #expect(response.headers.text("X-Protocol") == version.rawValue)
            }
        }
        #expect(reports.outcomes.isEmpty)
    }

    @Test(
        "A key without a pin fails with tls.pin, once, and no byte of the request is sent",
        arguments: Version.allCases
    )
    func wrongPin(version: Version) async throws {
        let id = UUID().uuidString
        let retry = RetryPlugin(policy: RetryPolicy { _ in .retryUnprocessed }, backoff: .constant(.zero))
        let provider = makeProvider(authority.pinned(to: [other, third]), version, plugins: [retry])
        let error = try #require(await provider.failure(target("HTTP2", "/stall/\(id)")))
        #expect(error.code == .tls(.pin))
        #expect(error.reason == "no pin for 127.0.0.1 matches: its key has the pin \(pin)")
        #expect(error.exchanges.count == 1)
        #expect(error.exchanges.last?.annotations.map(\.event) == ["pinRejected"])
        #expect(reports.outcomes == [.rejected])
        #expect(reports.pins == [pin])
        #expect(reports.hosts == ["127.0.0.1"])
        let good = makeProvider(authority, version)
        #expect(try await good.request(target("HTTP2", "/stalled/\(id)")).map(SecureCount.self).count == 0)
        // openssl logs what it receives.
        #expect(await provider.failure(target("PLAIN", "/\(id)"))?.code == .tls(.pin))
        #expect(!(try TLSServers.log(of: "PLAIN")).contains(id))
    }

    @Test("Calls that wait for the same connection all fail with tls.pin", arguments: Version.allCases)
    func concurrent(version: Version) async throws {
        let provider = makeProvider(authority.pinned(to: [other, third]), version)
        let codes = await withTaskGroup(of: PipelineError.Code?.self) { group in
            for _ in 0..<20 { group.addTask { await provider.failure(target())?.code } }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(codes == [.tls(.pin)])
        #expect(reports.outcomes == Array(repeating: .rejected, count: 20))
    }

    @Test("Pins that have expired are reported and not enforced", arguments: Version.allCases)
    func expiredPins(version: Version) async throws {
        let rule = authority.pinned(to: [other, third], until: Date(timeIntervalSinceNow: -1))
        let provider = makeProvider(rule, version)
        for _ in 0..<3 { #expect(try await provider.request(target()).statusCode == 200) }
        #expect(reports.outcomes == [.expired])
        let valid = makeProvider(authority.pinned(to: [other, third], until: Date(timeIntervalSinceNow: 600)), version)
        #expect(await valid.failure(target())?.code == .tls(.pin))
    }

    @Test("In audit mode a key without a pin is reported once for its connection", arguments: Version.allCases)
    func audit(version: Version) async throws {
        let provider = makeProvider(authority.pinned(to: [other, third], mode: .audit), version)
        let first = try await provider.request(target())
        let second = try await provider.request(target())
        #expect(first.exchanges.last?.annotations.map(\.description) == ["AsyncHTTPClientTransport pinAudited"])
        #expect(second.exchanges.last?.annotations.isEmpty == true)
        #expect(reports.outcomes == [.audited])
        #expect(reports.pins == [pin])
    }

    @Test(
        "A pin does not replace the verification of the certificate",
        arguments: Version.allCases,
        [
            ("EXPIRED", PipelineError.Code.tls(.certificate)), ("SELF_SIGNED", .tls(.certificate)),
            ("WRONG_HOST", .tls(.hostName)),
        ]
    )
    func verification(version: Version, failing: (server: String, code: PipelineError.Code)) async throws {
        let seen = try #require(TrustPolicy.Pin(TLSServers.pin(of: failing.server)))
        for mode in [TrustPolicy.PinMode.enforce, .audit] {
            let provider = makeProvider(authority.pinned(to: [seen, other], mode: mode), version)
            #expect(await provider.failure(target(failing.server))?.code == failing.code)
        }
        #expect(reports.outcomes.isEmpty)
    }

    @Test("The right client identity is accepted; none or another authority's is not", arguments: Version.allCases)
    func clientIdentity(version: Version) async throws {
        let pkcs12 = try ClientIdentity(pkcs12: try TLSServers.file(TLSServers.pkcs12), passphrase: "passphrase")
        for identity in [try identity("CLIENT"), pkcs12] {
            let identities = ClientIdentities(["127.0.0.1": identity])
            let response = try await makeProvider(authority, version, identities: identities).request(target("MUTUAL"))
            #expect(response.headers.text("X-Client") == "CN=client")
        }
        let none = makeProvider(authority, version)
        #expect(try await none.request(target("MUTUAL")).statusCode == 400)
        let stranger = ClientIdentities(["*": try identity("STRANGER")])
        let wrong = makeProvider(authority, version, identities: stranger)
        #expect(try await wrong.request(target("MUTUAL")).statusCode == 400)
        let other = ClientIdentities(["elsewhere.test": try identity("CLIENT")])
        let notThisHost = makeProvider(authority, version, identities: other)
        #expect(try await notThisHost.request(target("MUTUAL")).statusCode == 400)
        let required = makeProvider(authority, .http1)
        #expect(await required.failure(target("CLIENT_REQUIRED"))?.code == .tls(.handshake))
    }

    @Test("A key of another certificate is not an identity")
    func mismatchedKey() throws {
        let (chain, key) = (try TLSServers.identity("CLIENT").chain, try TLSServers.identity("RENEWED").key)
        let error = #expect(throws: PipelineError.self) {
            try ClientIdentity(pemChain: try TLSServers.file(chain), pemKey: try TLSServers.file(key))
        }
        #expect(error?.code == .tls(.configuration))
    }

    #if canImport(FoundationNetworking)
    @Test("On Linux, URLSession refuses hosts with their own authorities or a client identity")
    func urlSession() async throws {
        let identities = ClientIdentities(["127.0.0.1": try identity("CLIENT")])
        for (transport, code) in [
            (URLSessionTransport(trust: TrustPolicy(["127.0.0.1": authority])), "unsupported.authorities"),
            (URLSessionTransport(identities: identities), "unsupported.clientIdentity"),
        ] {
            #expect(transport.unsupportedSettings.map(\.code.rawValue) == [code])
            #expect(await Provider<SecureTarget>(transport: transport).failure(target())?.code.rawValue == code)
        }
    }
    #endif

    @Test("A retry presents the client identity of its time", arguments: Version.allCases)
    func retriedIdentity(version: Version) async throws {
        let identities = ClientIdentities(["127.0.0.1": try identity("CLIENT")])
        let renewed = try identity("RENEWED")
        let seen = Mutex<[String?]>([])
        let policy = RetryPolicy { outcome in
            seen.withLock { $0.append(outcome.response?.headers.text("X-Client")) }
            if outcome.attempt == 2 { identities.set(renewed, for: "127.0.0.1") }
            return nil
        }
        let retry = RetryPlugin(maximumAttempts: 4, policy: policy, backoff: .constant(.zero))
        let provider = makeProvider(authority, version, identities: identities, plugins: [retry])
        _ = try await provider.request(target("MUTUAL", "/status/503"))
        #expect(seen.withLock { $0 } == ["CN=client", "CN=client", "CN=renewed", "CN=renewed"])
    }

    @Test("A request that is resent after its connection was lost presents the client identity")
    func resentIdentity() async throws {
        let identities = ClientIdentities(["127.0.0.1": try identity("CLIENT")])
        let provider = makeProvider(authority, .http1, identities: identities, connectionsPerHost: 1)
        var connections: Set<String?> = []
        for _ in 0..<3 {
            let response = try await provider.request(target("MUTUAL", "/reused"))
            #expect(response.headers.text("X-Client") == "CN=client")
            #expect(response.exchanges.count == 1)
            connections.insert(response.headers.text("X-Connection"))
        }
        #expect(connections.count == 3)
    }

    @Test("After a rotation, no request uses a connection of the old identity", arguments: Version.allCases)
    func rotation(version: Version) async throws {
        let identities = ClientIdentities(["127.0.0.1": try identity("CLIENT")])
        let provider = makeProvider(authority, version, identities: identities)
        var connections: [[String?]] = []
        for (name, subject) in [("CLIENT", "CN=client"), ("RENEWED", "CN=renewed")] {
            identities.set(try identity(name), for: "127.0.0.1")
            var used: [String?] = []
            for _ in 0..<3 {
                let response = try await provider.request(target("MUTUAL"))
                #expect(response.headers.text("X-Client") == subject)
                used.append(response.headers.text("X-Connection"))
            }
            // Requests with the same identity share a connection.
            #expect(Set(used).count == 1)
            connections.append(used)
        }
        #expect(Set(connections[0]).isDisjoint(with: connections[1]))
        identities.set(nil, for: "127.0.0.1")
        #expect(try await provider.request(target("MUTUAL")).statusCode == 400)
    }

    @Test("G07: a transport names the client identity of a request over https, and another one after a rotation")
    func names() throws {
        let identities = ClientIdentities(["127.0.0.1": try identity("CLIENT")])
        let transport = AsyncHTTPClientTransport(identities: identities)
        let request = try PipelineRequest(url: "https://127.0.0.1/")
        let first = try #require(transport.identity(for: request))
        #expect(transport.identity(for: request) == first)
        identities.set(try identity("RENEWED"), for: "127.0.0.1")
        #expect(try #require(transport.identity(for: request)) != first)
        identities.set(try identity("CLIENT"), for: "127.0.0.1")
        #expect(transport.identity(for: request) == first)
        #expect(transport.identity(for: try PipelineRequest(url: "http://127.0.0.1/")) == nil)
        #expect(transport.identity(for: try PipelineRequest(url: "https://localhost/")) == nil)
        #expect(AsyncHTTPClientTransport().identity(for: request) == nil)
    }

    @Test("A minimum TLS version applies", arguments: Version.allCases)
    func minimumVersion(version: Version) async throws {
        let provider = makeProvider(authority.minimumTLSVersion(.v1_3), version)
        #expect(await provider.failure(target("TLS12"))?.code == .tls(.handshake))
        let general = makeProvider(authority.pinned(to: [other, third]), version)
        #expect(await general.failure(target("TLS12"))?.code == .tls(.pin))
    }

    @Test("A pinned host over http fails with tls.pin, and nothing is sent")
    func plain() async throws {
        let provider = makeProvider(authority.pinned(to: [pin, other]), .http1)
        let url = try #require(URL(string: "http://127.0.0.1:\(TLSServers.url("PLAIN").port ?? 0)"))
        let error = try #require(await provider.failure(SecureTarget(baseURL: url, path: "/")))
        #expect(error.code == .tls(.pin))
        #expect(error.exchanges.count == 1)
        #expect(reports.outcomes.isEmpty)
    }
}
