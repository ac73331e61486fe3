import Foundation
import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineSigning

@Suite("Keys of message signatures", .watched)
struct MessageKeyTests {
    private typealias Keys = SignatureVectors.Keys

    private static let base = Data("base".utf8)

    private static let keyPairs: [(String, String, MessageSignatureAlgorithm)] = {
        var pairs = [
            (Keys.ed25519Private, Keys.ed25519Public, MessageSignatureAlgorithm.ed25519),
            (Keys.p256Private, Keys.p256Public, .ecdsaP256SHA256),
        ]
        pairs += [
            (Keys.rsaPSSPrivate, Keys.rsaPSSPublic, .rsaPSSSHA512), (Keys.rsaPrivate, Keys.rsaPublic, .rsaPSSSHA512),
            (Keys.rsaPrivate, Keys.rsaPublic, .rsaV15SHA256), (Keys.rsaPSSPrivate, Keys.rsaPSSPublic, .rsaV15SHA256),
        ]
        return pairs
    }()

    @Test("The keys of appendix B.1 sign and verify", arguments: keyPairs)
    func pairs(privateKey: String, publicKey: String, algorithm: MessageSignatureAlgorithm) throws {
        let signature = try MessageSigningKey(pem: privateKey, algorithm: algorithm).sign(Self.base)
        let key = try MessageVerificationKey(pem: publicKey, algorithm: algorithm)
        #expect(key.isValid(signature, Self.base))
        #expect(!key.isValid(signature, Data("other".utf8)))
        #expect(!key.isValid(signature.dropLast(), Self.base))
        #expect(!key.isValid(Data(), Self.base))
    }

    @Test("Raw keys sign and verify")
    func raw() throws {
        let seed = Data(repeating: 1, count: 32)
        let bytes = Data(repeating: 1, count: 48)
        for (algorithm, key) in [
            (MessageSignatureAlgorithm.ed25519, seed), (.ecdsaP256SHA256, seed), (.ecdsaP384SHA384, bytes),
        ] {
            let count = algorithm == .ecdsaP384SHA384 ? 96 : 64
            #expect(try MessageSigningKey(rawRepresentation: key, algorithm: algorithm).sign(Self.base).count == count)
        }
    }

    @Test(
        "A key that is malformed, encrypted, empty, or of another algorithm is refused",
        arguments: [
            (Keys.ed25519Private, MessageSignatureAlgorithm.ecdsaP256SHA256), (Keys.p256Private, .ed25519),
            (Keys.p256Private, .ecdsaP384SHA384), (Keys.ed25519Private, .hmacSHA256), ("", .ed25519),
            (Keys.ed25519Private.replacingOccurrences(of: " PRIVATE", with: " ENCRYPTED PRIVATE"), .ed25519),
            ("-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----", .ed25519),
        ]
    )
    func refused(pem: String, algorithm: MessageSignatureAlgorithm) {
        #expect(throws: MessageSignatureError(.invalidKey)) {
            try MessageSigningKey(pem: pem, algorithm: algorithm)
        }
        #expect(throws: MessageSignatureError(.invalidKey)) {
            try MessageVerificationKey(pem: pem, algorithm: algorithm)
        }
        #expect(throws: MessageSignatureError(.invalidKey)) {
            try MessageSigningKey(rawRepresentation: Data(), algorithm: algorithm)
        }
    }
}
