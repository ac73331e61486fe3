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
    var description: String { "a DPoP key" }

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
    ///
    /// - Parameters:
    ///   - method: the method of the request.
    ///   - url: the URL without its query and its fragment.
    ///   - token: the access token of the request, if it has one.
    ///   - nonce: the nonce that the server asked for.
    ///   - date: the current time.
    ///   - id: a text that no other proof has.
    /// - Returns: the proof.
    /// - Throws: an error of the system's cryptography.
    func proof(method: String, url: String, token: String?, nonce: String?, date: Date, id: String) throws -> String {
        let point = key.publicKey.rawRepresentation
        let (x, y) = (Base64URL.text(of: point.prefix(32)), Base64URL.text(of: point.suffix(32)))
        let header: [String: Any] = [
            "typ": "dpop+jwt", "alg": "ES256", "jwk": ["kty": "EC", "crv": "P-256", "x": x, "y": y],
        ]
        let seconds = Int(date.timeIntervalSince1970.rounded(.down))
        var claims: [String: Any] = ["htm": method, "htu": url, "iat": seconds, "jti": id]
        claims["ath"] = token.map { Base64URL.text(of: PipelineHashes.SHA256.hash(Array($0.utf8))) }
        claims["nonce"] = nonce
        let signed = try [header, claims].map { object in
            let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
            return Base64URL.text(of: try JSONSerialization.data(withJSONObject: object, options: options))
        }.joined(separator: ".")
        return signed + "." + Base64URL.text(of: try key.signature(for: Data(signed.utf8)).rawRepresentation)
    }
    #else
    private static var unavailable: PipelineError {
        PipelineError(.oauth(.response), "the session is bound to a DPoP key, which needs the trait Crypto")
    }

    init() {}

    init(_ data: Data) throws { throw Self.unavailable }

    var data: Data { Data() }

    func proof(method: String, url: String, token: String?, nonce: String?, date: Date, id: String) throws -> String {
        throw Self.unavailable
    }
    #endif
}
