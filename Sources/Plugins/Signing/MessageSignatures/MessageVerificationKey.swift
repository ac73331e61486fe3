#if Crypto || canImport(CryptoKit)
public import Foundation
public import PipelineCore
#if Crypto
import Crypto
import CryptoExtras
#else
import CryptoKit
#endif

/// A public key or a shared secret that verifies signatures.
///
/// **Secrets**: neither its description nor `dump` shows the key, which is a secret for HMAC.
public struct MessageVerificationKey: Sendable, SafelyDescribed {
    /// The algorithm that the key is for; signatures of any other algorithm are refused.
    public let algorithm: MessageSignatureAlgorithm

    let isValid: @Sendable (_ signature: Data, _ base: Data) -> Bool

    /// Reads a key from a PEM text: `PUBLIC KEY` or `RSA PUBLIC KEY`.
    ///
    /// - Throws: ``MessageSignatureError`` with reason `invalidKey`.
    public init(pem: String, algorithm: MessageSignatureAlgorithm) throws {
        try self.init(der: KeyText.der(ofPEM: pem), algorithm: algorithm)
    }

    /// Reads a key in DER: SubjectPublicKeyInfo or PKCS #1.
    ///
    /// - Throws: ``MessageSignatureError`` with reason `invalidKey`; always for HMAC, whose secret has no DER form.
    public init(der: Data, algorithm: MessageSignatureAlgorithm) throws {
        self.algorithm = algorithm
        switch algorithm {
        case .ed25519:
            guard let key = KeyText.keyOfSPKI(der, algorithm: KeyText.ed25519) else {
                throw MessageSignatureError(.invalidKey)
            }
            isValid = try Self.ed25519(key)
        case .ecdsaP256SHA256: isValid = try Self.p256 { try P256.Signing.PublicKey(derRepresentation: der) }
        case .ecdsaP384SHA384: isValid = try Self.p384 { try P384.Signing.PublicKey(derRepresentation: der) }
        #if Crypto
        case .rsaPSSSHA512:
            let key = try Self.valid { try _RSA.Signing.PublicKey(derRepresentation: der) }
            isValid = { signature, base in
                key.isValidSignature(.init(rawRepresentation: signature), for: SHA512.hash(data: base), padding: .PSS)
            }
        case .rsaV15SHA256:
            let key = try Self.valid { try _RSA.Signing.PublicKey(derRepresentation: der) }
            isValid = { signature, base in
                let digest = SHA256.hash(data: base)
                return key.isValidSignature(
                    .init(rawRepresentation: signature),
                    for: digest,
                    padding: .insecurePKCS1v1_5
                )
            }
        #endif
        default: throw MessageSignatureError(.invalidKey)
        }
    }

    /// Makes a key from its bytes: the secret of HMAC, 32 bytes for Ed25519, or both coordinates for ECDSA.
    ///
    /// - Throws: ``MessageSignatureError`` with reason `invalidKey`; always for RSA, whose keys have no raw form.
    public init(rawRepresentation: Data, algorithm: MessageSignatureAlgorithm) throws {
        self.algorithm = algorithm
        switch algorithm {
        case .hmacSHA256:
            guard !rawRepresentation.isEmpty else { throw MessageSignatureError(.invalidKey) }
            let key = SymmetricKey(data: rawRepresentation)
            // Takes the same time wherever the codes differ.
            isValid = { HMAC<SHA256>.isValidAuthenticationCode($0, authenticating: $1, using: key) }
        case .ed25519: isValid = try Self.ed25519(rawRepresentation)
        case .ecdsaP256SHA256:
            isValid = try Self.p256 { try P256.Signing.PublicKey(rawRepresentation: rawRepresentation) }
        case .ecdsaP384SHA384:
            isValid = try Self.p384 { try P384.Signing.PublicKey(rawRepresentation: rawRepresentation) }
        default: throw MessageSignatureError(.invalidKey)
        }
    }

    /// The name of the algorithm.
    public var description: String { "a verification key for \(algorithm)" }

    private static func ed25519(_ bytes: Data) throws -> @Sendable (Data, Data) -> Bool {
        let key = try valid { try Curve25519.Signing.PublicKey(rawRepresentation: bytes) }
        return { key.isValidSignature($0, for: $1) }
    }

    private static func p256(
        _ make: () throws -> P256.Signing.PublicKey
    ) throws -> @Sendable (Data, Data) -> Bool {
        let key = try valid(make)
        return { signature, base in
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            return signature.map { key.isValidSignature($0, for: base) } ?? false
        }
    }

    private static func p384(
        _ make: () throws -> P384.Signing.PublicKey
    ) throws -> @Sendable (Data, Data) -> Bool {
        let key = try valid(make)
        return { signature, base in
            let signature = try? P384.Signing.ECDSASignature(rawRepresentation: signature)
            return signature.map { key.isValidSignature($0, for: base) } ?? false
        }
    }

    private static func valid<Key>(_ make: () throws -> Key) throws -> Key {
        do { return try make() } catch { throw MessageSignatureError(.invalidKey) }
    }
}
#endif
