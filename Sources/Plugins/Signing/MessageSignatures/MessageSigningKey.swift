#if Crypto || canImport(CryptoKit)
public import Foundation
public import PipelineCore
#if Crypto
import Crypto
import CryptoExtras
#else
import CryptoKit
#endif

/// A private key or a shared secret that signs messages.
///
/// ```swift
/// let key = try MessageSigningKey(pem: text, algorithm: .ed25519)
/// ```
///
/// **Secrets**: neither its description nor `dump` shows the key.
public struct MessageSigningKey: Sendable, SafelyDescribed {
    /// The algorithm that the key is for.
    public let algorithm: MessageSignatureAlgorithm

    let sign: @Sendable (Data) throws -> Data

    /// Reads a key from a PEM text: `PRIVATE KEY`, `EC PRIVATE KEY` or `RSA PRIVATE KEY`, not encrypted.
    ///
    /// - Throws: ``MessageSignatureError`` with reason `invalidKey`.
    public init(pem: String, algorithm: MessageSignatureAlgorithm) throws {
        try self.init(der: KeyText.der(ofPEM: pem), algorithm: algorithm)
    }

    /// Reads a key in DER: PKCS #8, SEC 1 or PKCS #1.
    ///
    /// - Throws: ``MessageSignatureError`` with reason `invalidKey`; always for HMAC, whose secret has no DER form.
    public init(der: Data, algorithm: MessageSignatureAlgorithm) throws {
        self.algorithm = algorithm
        switch algorithm {
        case .ed25519:
            guard let seed = KeyText.keyOfPKCS8(der, algorithm: KeyText.ed25519).flatMap(KeyText.octets) else {
                throw MessageSignatureError(.invalidKey)
            }
            sign = try Self.ed25519(seed)
        case .ecdsaP256SHA256:
            let key = try Self.valid { try P256.Signing.PrivateKey(derRepresentation: der) }
            sign = { try key.signature(for: $0).rawRepresentation }
        case .ecdsaP384SHA384:
            let key = try Self.valid { try P384.Signing.PrivateKey(derRepresentation: der) }
            sign = { try key.signature(for: $0).rawRepresentation }
        #if Crypto
        case .rsaPSSSHA512:
            let key = try Self.rsa(der)
            sign = { try key.signature(for: SHA512.hash(data: $0), padding: .PSS).rawRepresentation }
        case .rsaV15SHA256:
            let key = try Self.rsa(der)
            sign = { try key.signature(for: SHA256.hash(data: $0), padding: .insecurePKCS1v1_5).rawRepresentation }
        #endif
        default: throw MessageSignatureError(.invalidKey)
        }
    }

    /// Makes a key from its bytes: the secret of HMAC, the seed of Ed25519 (32 bytes), or the scalar of ECDSA.
    ///
    /// - Throws: ``MessageSignatureError`` with reason `invalidKey`; always for RSA, whose keys have no raw form.
    public init(rawRepresentation: Data, algorithm: MessageSignatureAlgorithm) throws {
        self.algorithm = algorithm
        switch algorithm {
        case .hmacSHA256:
            guard !rawRepresentation.isEmpty else { throw MessageSignatureError(.invalidKey) }
            let key = SymmetricKey(data: rawRepresentation)
            sign = { Data(HMAC<SHA256>.authenticationCode(for: $0, using: key)) }
        case .ed25519: sign = try Self.ed25519(rawRepresentation)
        case .ecdsaP256SHA256:
            let key = try Self.valid { try P256.Signing.PrivateKey(rawRepresentation: rawRepresentation) }
            sign = { try key.signature(for: $0).rawRepresentation }
        case .ecdsaP384SHA384:
            let key = try Self.valid { try P384.Signing.PrivateKey(rawRepresentation: rawRepresentation) }
            sign = { try key.signature(for: $0).rawRepresentation }
        default: throw MessageSignatureError(.invalidKey)
        }
    }

    /// The name of the algorithm.
    public var description: String { "a signing key for \(algorithm)" }

    private static func ed25519(_ seed: Data) throws -> @Sendable (Data) throws -> Data {
        let key = try valid { try Curve25519.Signing.PrivateKey(rawRepresentation: seed) }
        return { try key.signature(for: $0) }
    }

    #if Crypto
    private static func rsa(_ der: Data) throws -> _RSA.Signing.PrivateKey {
        // A key that is restricted to PSS has an identifier that the parser does not know.
        let der = KeyText.keyOfPKCS8(der, algorithm: KeyText.rsaPSS) ?? der
        return try valid { try _RSA.Signing.PrivateKey(derRepresentation: der) }
    }
    #endif

    /// Replaces the error of a parser, which may describe the key.
    private static func valid<Key>(_ make: () throws -> Key) throws -> Key {
        do { return try make() } catch { throw MessageSignatureError(.invalidKey) }
    }
}
#endif
