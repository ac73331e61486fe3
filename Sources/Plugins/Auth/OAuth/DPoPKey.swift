import Foundation
import PipelineCore
import PipelineHashes

#if Crypto
import Crypto
#elseif canImport(CryptoKit)
import CryptoKit
#endif

/// The private key of a session, which signs the proofs of its requests.
///
/// Source: RFC 9449 §4, https://www.rfc-editor.org/rfc/rfc9449.html#section-4
struct DPoPKey: Sendable, SafelyDescribed {
    /// The request that a proof is for.
    struct Use: Sendable {
        var method: String
        /// The URL without its query and its fragment.
        var url: String
        var token: String?
        var nonce: String?
        var date: Date
        var id: String
    }

    var description: String { "a DPoP key" }

    private struct Claims: Encodable {
        let htm: String
        let htu: String
        let iat: Int
        let jti: String
        let ath: String?
        let nonce: String?
    }

    private struct Header: Encodable {
        struct Key: Encodable {
            let kty = "EC"
            let crv = "P-256"
            let x: String
            let y: String
        }

        let typ = "dpop+jwt"
        let alg = "ES256"
        let jwk: Key
    }

    #if Crypto || canImport(CryptoKit)
    private let key: P256.Signing.PrivateKey

    init() { key = P256.Signing.PrivateKey() }

    init(_ data: Data) throws {
        do {
            key = try P256.Signing.PrivateKey(rawRepresentation: data)
        } catch {
            throw PipelineError(.oauth(.response), "the stored DPoP key cannot be read; sign in again")
        }
    }

    var data: Data { key.rawRepresentation }

    /// Returns the proof for a request, a signed JWT.
    func proof(_ use: Use) throws -> String {
        let point = key.publicKey.rawRepresentation
        let header = Header(
            jwk: .init(x: Base64URL.text(of: point.prefix(32)), y: Base64URL.text(of: point.suffix(32)))
        )
        let hash = use.token.map { Base64URL.text(of: PipelineHashes.SHA256.hash(Array($0.utf8))) }
        let claims = Claims(
            htm: use.method,
            htu: use.url,
            iat: Int(use.date.timeIntervalSince1970.rounded(.down)),
            jti: use.id,
            ath: hash,
            nonce: use.nonce
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let signed =
            Base64URL.text(of: try encoder.encode(header)) + "." + Base64URL.text(of: try encoder.encode(claims))
        return signed + "." + Base64URL.text(of: try key.signature(for: Data(signed.utf8)).rawRepresentation)
    }
    #else
    private static var unavailable: PipelineError {
        PipelineError(.oauth(.response), "the session is bound to a DPoP key, which needs the trait Crypto")
    }

    init() {}

    init(_ data: Data) throws { throw Self.unavailable }

    var data: Data { Data() }

    func proof(_ use: Use) throws -> String { throw Self.unavailable }
    #endif
}
