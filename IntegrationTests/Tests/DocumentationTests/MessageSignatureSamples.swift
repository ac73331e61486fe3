import Foundation
import Pipeline
import PipelineSigning
import PipelineTesting
import TestSupport
import Testing

/// The samples about HTTP message signatures.
enum MessageSignatureSamples {
    static func signer(_ privateKey: String) throws -> MessageSigner {
        // sample: signer
        let signer = MessageSigner(
            components: [.method, .targetURI, .contentDigest],
            ifPresent: [.field(.contentType)],
            key: try MessageSigningKey(pem: privateKey, algorithm: .ed25519),
            keyID: "client-1",
            expires: .seconds(300)
        )
        // end
        return signer
    }

    static func verify(
        _ request: HTTPRequest,
        _ body: Data,
        _ clientKeys: [String: MessageVerificationKey]
    ) async throws -> MessageSignature {
        // sample: verifier
        let verifier = MessageVerifier(
            keys: { signature in signature.keyID.flatMap { clientKeys[$0] } },
            required: [.method, .targetURI, .contentDigest]
        )
        let signature = try await verifier.verify(request: request, body: body)
        // end
        return signature
    }
}

@Suite("The samples about HTTP message signatures", .watched)
struct MessageSignatureSamplesTests {
    private static let privateKey = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
        -----END PRIVATE KEY-----
        """
    private static let publicKey = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
        -----END PUBLIC KEY-----
        """

    @Test("The verifier accepts what the signer signs")
    func roundTrip() async throws {
        let signer = try MessageSignatureSamples.signer(Self.privateKey)
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<TargetsSamples.Shop>(
            transport: transport,
            plugins: [SigningPlugin(signer)]
        )
        _ = try await provider.request(.item(id: 7))
        let request = try #require(transport.sent.last)
        let key = try MessageVerificationKey(pem: Self.publicKey, algorithm: .ed25519)
        let signature = try await MessageSignatureSamples.verify(request.head, Data(), ["client-1": key])
        #expect(signature.components == [.method, .targetURI, .contentDigest])
    }
}
