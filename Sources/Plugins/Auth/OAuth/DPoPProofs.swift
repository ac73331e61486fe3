import Foundation
import HTTPTypes
import PipelineCore
import Synchronization

/// Makes proofs of possession, with the nonces that servers asked for.
final class DPoPProofs: Sendable {
    static let field = HTTPField.Name("DPoP")
    private static let nonceField = HTTPField.Name("DPoP-Nonce")
    private static let maximumCount = 16
    private static let maximumByteCount = 1_024

    /// The last nonce of each origin, the most recent one last.
    private let nonces = Mutex<[(origin: PipelineRequest.Origin, nonce: String)]>([])

    /// A proof, and the nonce in it.
    struct Proof: Sendable {
        let text: String
        let nonce: String?
    }

    /// Keeps the nonce of a response; returns whether it differs from that of the request's proof.
    @discardableResult
    func note(_ response: PipelineResponse, after proof: Proof) -> Bool {
        guard let field = Self.nonceField, let nonce = response.headers[field], !nonce.isEmpty,
            nonce.utf8.count <= Self.maximumByteCount
        else { return false }
        let origin = response.request.origin
        nonces.withLock { nonces in
            nonces.removeAll { $0.origin == origin }
            nonces.append((origin, nonce))
            if nonces.count > Self.maximumCount { nonces.removeFirst() }
        }
        // Not the nonce kept before: another request may have received this one meanwhile.
        return proof.nonce != nonce
    }

    /// Returns the proof for a request.
    func proof(for request: PipelineRequest, key: DPoPKey, token: String?, date: Date) throws -> Proof {
        let origin = request.origin
        let nonce = nonces.withLock { $0.first { $0.origin == origin }?.nonce }
        let text = try key.proof(
            method: request.method.rawValue,
            url: origin.description + request.path,
            token: token,
            nonce: nonce,
            date: date,
            id: Base64URL.text(of: OAuthSecrets.bytes(16))
        )
        return Proof(text: text, nonce: nonce)
    }
}
