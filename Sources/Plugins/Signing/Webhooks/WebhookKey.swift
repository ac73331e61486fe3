#if Crypto || canImport(CryptoKit)
import Foundation
public import PipelineCore
#if Crypto
import Crypto
#else
import CryptoKit
#endif

/// A key of Standard Webhooks.
///
/// | prefix | key | signs | verifies |
/// |---|---|---|---|
/// | `whsec_`, or none | shared secret of at least 16 bytes, for HMAC-SHA256 (`v1`) | yes | yes |
/// | `whsk_` | private Ed25519 key, 32 or 64 bytes (`v1a`) | yes | yes |
/// | `whpk_` | public Ed25519 key, 32 bytes (`v1a`) | no | yes |
///
/// The text after the prefix is base64.
///
/// **Secrets**: neither the description nor `dump` shows the key.
///
/// Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
public struct WebhookKey: Sendable, SafelyDescribed {
    private enum Kind: Sendable {
        case secret(SymmetricKey)
        case privateKey(Curve25519.Signing.PrivateKey)
        case publicKey(Curve25519.Signing.PublicKey)
    }

    private let kind: Kind

    /// Reads a key.
    ///
    /// - Parameter text: the key with its prefix.
    /// - Throws: ``WebhookError`` with reason `invalidKey`.
    public init(_ text: String) throws(WebhookError) {
        if let bytes = Self.bytes(of: text, after: "whsk_") {
            // A private key may be followed by the public one.
            guard bytes.count == 32 || bytes.count == 64,
                let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes.prefix(32))
            else { throw WebhookError(.invalidKey) }
            kind = .privateKey(key)
        } else if let bytes = Self.bytes(of: text, after: "whpk_") {
            guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes) else {
                throw WebhookError(.invalidKey)
            }
            kind = .publicKey(key)
        } else {
            let bytes = Self.bytes(of: text, after: "whsec_") ?? Data(base64Encoded: text)
            guard let bytes, bytes.count >= 16 else { throw WebhookError(.invalidKey) }
            kind = .secret(SymmetricKey(data: bytes))
        }
    }

    /// The kind of key.
    public var description: String {
        switch kind {
        case .secret: "a shared secret for webhooks"
        case .privateKey: "a private key for webhooks"
        case .publicKey: "a public key for webhooks"
        }
    }

    /// The version of the signatures.
    var version: String {
        if case .secret = kind { "v1" } else { "v1a" }
    }

    var canSign: Bool {
        if case .publicKey = kind { false } else { true }
    }

    /// Returns the signature of a message, or `nil` if the key only verifies.
    func signature(of message: Data) throws -> Data? {
        switch kind {
        case .secret(let key): Data(HMAC<SHA256>.authenticationCode(for: message, using: key))
        case .privateKey(let key): try key.signature(for: message)
        case .publicKey: nil
        }
    }

    /// Returns whether a signature belongs to a message; the comparison takes the same time for all signatures.
    func isValid(_ signature: Data, of message: Data) -> Bool {
        switch kind {
        case .secret(let key):
            HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: message, using: key)
        case .privateKey(let key): key.publicKey.isValidSignature(signature, for: message)
        case .publicKey(let key): key.isValidSignature(signature, for: message)
        }
    }

    private static func bytes(of text: String, after prefix: String) -> Data? {
        guard text.hasPrefix(prefix) else { return nil }
        return Data(base64Encoded: String(text.dropFirst(prefix.count))) ?? Data()
    }
}
#endif
