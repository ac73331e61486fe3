/// An algorithm of HTTP message signatures.
///
/// RSA needs the trait `Crypto` on every platform, because CryptoKit does not have it.
///
/// Source: RFC 9421 §3.3, https://www.rfc-editor.org/rfc/rfc9421.html#section-3.3
public struct MessageSignatureAlgorithm: Sendable, Hashable, CustomStringConvertible {
    /// The registered name, as in the parameter `alg`.
    public let name: String

    /// EdDSA on the curve Ed25519; its signatures are deterministic and have 64 bytes.
    public static let ed25519 = Self(name: "ed25519")
    /// ECDSA on the curve P-256 with SHA-256.
    public static let ecdsaP256SHA256 = Self(name: "ecdsa-p256-sha256")
    /// ECDSA on the curve P-384 with SHA-384.
    public static let ecdsaP384SHA384 = Self(name: "ecdsa-p384-sha384")
    /// HMAC with SHA-256 and a shared secret.
    public static let hmacSHA256 = Self(name: "hmac-sha256")
    #if Crypto
    /// RSA with the padding PSS, SHA-512 and a salt of 64 bytes.
    public static let rsaPSSSHA512 = Self(name: "rsa-pss-sha512")
    /// RSA with the padding of PKCS #1 v1.5 and SHA-256, for servers that do not know PSS.
    public static let rsaV15SHA256 = Self(name: "rsa-v1_5-sha256")
    #endif

    /// The name in the registry of signature algorithms.
    public var description: String { name }
}
