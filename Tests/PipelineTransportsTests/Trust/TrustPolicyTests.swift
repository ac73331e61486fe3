import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineTransports

@Suite("Trust policies, pins and client identities", .realTime, .watched)
struct TrustPolicyTests {
    private struct HostTarget: TargetType {
        let baseURL: URL
        let path = ""
        let method = HTTPRequest.Method.get
        let task = RequestTask.requestPlain
        let headers: [String: String]? = nil
    }

    private static let pins: [TrustPolicy.Pin] = [
        TrustPolicy.Pin(subjectPublicKeyInfo: [1]), TrustPolicy.Pin(subjectPublicKeyInfo: [2]),
    ]

    @Test("A pin is the SHA-256 hash in Base64 and is written as it is read")
    func pin() {
        #expect(TrustPolicy.Pin(subjectPublicKeyInfo: []) == "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
        #expect("\(Self.pins[0])" == TrustPolicy.Pin("\(Self.pins[0])")?.description)
    }

    @Test(
        "A text in another form is not a pin",
        arguments: [
            "", "sha256/", "sha256/AAAA", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "sha1/AAAA", "sha256/*",
        ]
    )
    func invalidPin(text: String) {
        #expect(TrustPolicy.Pin(text) == nil)
    }

    @Test("Pins decide by match, expiry and mode")
    func outcomes() {
        let now = Date(timeIntervalSince1970: 1_000)
        let other = TrustPolicy.Pin(subjectPublicKeyInfo: [3])
        func outcome(
            _ pin: TrustPolicy.Pin?,
            until: Date? = nil,
            _ mode: TrustPolicy.PinMode = .enforce
        ) -> TrustPolicy.Report.Outcome? {
            TrustPolicy.Rule.system.pinned(to: Self.pins, until: until, mode: mode).pins?.outcome(of: pin, at: now)
        }
        #expect(outcome(Self.pins[0]) == nil)
        #expect(outcome(Self.pins[1], .audit) == nil)
        #expect(outcome(other) == .rejected)
        #expect(outcome(nil) == .rejected)
        #expect(outcome(other, .audit) == .audited)
        #expect(outcome(other, until: now) == .expired)
        #expect(outcome(Self.pins[0], until: now, .audit) == .expired)
        #expect(outcome(other, until: now + 1) == .rejected)
    }

    @Test("Only enforced pins that have not expired forbid a connection without TLS")
    func enforcement() {
        let now = Date(timeIntervalSince1970: 1_000)
        func isEnforced(_ mode: TrustPolicy.PinMode, until: Date? = nil) -> Bool? {
            TrustPolicy.Rule.system.pinned(to: Self.pins, until: until, mode: mode).pins?.isEnforced(at: now)
        }
        #expect(isEnforced(.enforce) == true)
        #expect(isEnforced(.enforce, until: now + 1) == true)
        #expect(isEnforced(.enforce, until: now) == false)
        #expect(isEnforced(.audit) == false)
    }

    @Test("Fewer than two different pins stop the program")
    func backup() async {
        await #expect(processExitsWith: .failure) {
            let pin = TrustPolicy.Pin(subjectPublicKeyInfo: [1])
            _ = TrustPolicy.Rule.system.pinned(to: [pin, pin])
        }
    }

    @Test(
        "Authorities and identities that cannot be read fail with tls.configuration and show nothing of it",
        arguments: ["", "canary", "-----BEGIN CERTIFICATE-----\ncanary*\n-----END CERTIFICATE-----"]
    )
    func unreadable(text: String) throws {
        let attempts: [() throws -> Void] = [
            { _ = try TrustPolicy.Rule.authorities(pem: Data(text.utf8)) },
            { _ = try ClientIdentity(pemChain: Data(text.utf8), pemKey: Data("canary".utf8)) },
            { _ = try ClientIdentity(pkcs12: Data(text.utf8), passphrase: "canary") },
        ]
        for attempt in attempts {
            let error = #expect(throws: PipelineError.self) { try attempt() }
            #expect(error?.code == .tls(.configuration))
            #expect(!String(reflecting: error).contains("canary"))
        }
    }

    @Test("Public keys get the header of their algorithm", arguments: [(65, 0x59), (97, 0x76)])
    func keys(count: Int, length: Int) throws {
        let info = try #require(SubjectPublicKeyInfo.ec([UInt8](repeating: 4, count: count)))
        #expect(info.count == length + 2)
        #expect(info[1] == UInt8(length))
        #expect(SubjectPublicKeyInfo.ec([4]) == nil)
        // RSA with 2,048 bits: 270 bytes in PKCS#1.
        let rsa = SubjectPublicKeyInfo.rsa([UInt8](repeating: 5, count: 270))
        #expect(Array(rsa.prefix(6)) == [0x30, 0x82, 0x01, 0x22, 0x30, 0x0D])
        #expect(Array(rsa[19..<24]) == [0x03, 0x82, 0x01, 0x0F, 0x00])
        let large = try #require(SubjectPublicKeyInfo.ec([UInt8](repeating: 4, count: 133)))
        #expect(Array(large.prefix(3)) == [0x30, 0x81, 0x9B])
    }

    #if canImport(FoundationNetworking)
    @Test("On Linux, URLSession refuses a host with a rule, names what is missing, and explain() shows it")
    func urlSession() async throws {
        let trust = TrustPolicy([
            "pinned.test": .system.pinned(to: Self.pins), "new.test": .system.minimumTLSVersion(.v1_3),
            "plain.test": .system,
        ])
        let transport = URLSessionTransport(trust: trust)
        #expect(
            transport.unsupportedSettings.map(\.code.rawValue) == [
                "unsupported.minimumTLSVersion", "unsupported.pinning",
            ]
        )
        let provider = Provider<HostTarget>(transport: transport)
        let findings = provider.explain().findings
        #expect(findings.map(\.id) == ["unsupported.minimumTLSVersion", "unsupported.pinning"])
        for (url, code) in [
            ("https://pinned.test/", "unsupported.pinning"), ("http://PINNED.test./", "unsupported.pinning"),
            ("https://new.test/", "unsupported.minimumTLSVersion"),
        ] {
            let error = await #expect(throws: PipelineError.self) {
                _ = try await provider.request(HostTarget(baseURL: try #require(URL(string: url))))
            }
            #expect(error?.code.rawValue == code)
            #expect(error?.reason.contains("URLSessionTransport") == true)
            #expect(error?.reason.contains("use AsyncHTTPClientTransport") == true)
        }
    }
    #endif
}
