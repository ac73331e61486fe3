import Foundation
import Pipeline
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineSigning

@Suite("Signatures of exchanges", .tags(.concurrent), .watched)
struct SignedExchangesTests {
    enum Scheme: CaseIterable { case awsFields, awsQuery, message }

    private static let credentials = AWSCredentials(accessKeyID: "a", secretAccessKey: "k", sessionToken: "t")
    private static let key = Data("a key".utf8)

    private static func awsSigner(_ scheme: Scheme) -> AWSSigner {
        let placement: AWSSigner.Placement = scheme == .awsQuery ? .query(expires: .seconds(60)) : .header
        return AWSSigner(region: "r", service: "s3", placement: placement) { _ in credentials }
    }

    private static func plugin(_ scheme: Scheme) throws -> SigningPlugin {
        guard scheme == .message else { return SigningPlugin(awsSigner(scheme)) }
        let key = try MessageSigningKey(rawRepresentation: key, algorithm: .hmacSHA256)
        return SigningPlugin(MessageSigner(components: [.method, .targetURI, .contentDigest], key: key, keyID: nil))
    }

    /// Fails unless a request has the signature of its own URL at a date.
    private static func verify(_ request: PipelineRequest, at date: Date, _ scheme: Scheme) async throws {
        guard scheme == .message else {
            var expected = request
            try await awsSigner(scheme).sign(&expected, with: credentials, at: date)
            #expect(request.head == expected.head)
            return
        }
        let key = try MessageVerificationKey(rawRepresentation: key, algorithm: .hmacSHA256)
        let verifier = MessageVerifier(keys: { _ in key }, required: [.targetURI], maximumAge: .zero, clockSkew: .zero)
        _ = try await verifier.verify(request: request.head, body: request.body.bytes ?? Data(), at: date)
    }

    @Test("Each attempt, hop and hedged copy has a signature of its own", arguments: Scheme.allCases)
    func exchanges(scheme: Scheme) async throws {
        let clock = ManualClock()
        let sent = Mutex<[(request: PipelineRequest, date: Date)]>([])
        let transport = ScriptedTransport { request, index in
            sent.withLock { $0.append((request, PipelineClock(clock).date)) }
            if index == 0 { return .status(503) }
            if request.path == "/b" {
                return .status(307, headers: [.location: "/c?x=1&\(request.query ?? "")"])
            }
            return index == 2 ? .delayed(.seconds(100), .status(200)) : .status(200)
        }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [
                RetryPlugin(backoff: .constant(.seconds(10))), HedgingPlugin(after: .fixed(.seconds(2))),
                try Self.plugin(scheme),
            ],
            configuration: ProviderConfiguration(clock: PipelineClock(clock))
        )
        // A PUT is copied only with the option.
        let options = RequestOptions { $0.hedging = .fixed(.seconds(2)) }
        let target = Ask(method: .put, task: .requestData(Data("x".utf8)), options: options)
        let response = try await clock.run { try await provider.request(target) }
        #expect(response.statusCode == 200)
        let all = sent.withLock { $0 }
        let start = try #require(all.first).date
        #expect(all.map { $0.date.timeIntervalSince(start).rounded() } == [0, 10, 10, 12, 12])
        #expect(all.map(\.request.path) == ["/b", "/b", "/c", "/b", "/c"])
        for (request, date) in all { try await Self.verify(request, at: date, scheme) }
    }
}
