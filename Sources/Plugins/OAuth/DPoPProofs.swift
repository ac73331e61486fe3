import Foundation
import HTTPTypes
import Pipeline
import Synchronization

/// Makes proofs of possession, with the nonces that servers asked for.
final class DPoPProofs: Sendable {
    static let field = HTTPField.Name("DPoP")
    private static let nonceField = HTTPField.Name("DPoP-Nonce")
    private static let maximumCount = 16
    private static let maximumByteCount = 1_024

    private let secrets: OAuthSecrets.Source
    /// The last nonce of each origin, the most recent one last.
    private let nonces = Mutex<[(origin: PipelineRequest.Origin, nonce: String)]>([])

    init(_ secrets: @escaping OAuthSecrets.Source) { self.secrets = secrets }

    /// Keeps the nonce of a response; returns whether it is a new one.
    @discardableResult
    func note(_ response: PipelineResponse) -> Bool {
        guard let field = Self.nonceField, let nonce = response.headers[field], !nonce.isEmpty,
            nonce.utf8.count <= Self.maximumByteCount
        else { return false }
        let origin = response.request.origin
        return nonces.withLock { nonces in
            let known = nonces.firstIndex { $0.origin == origin }.map { nonces.remove(at: $0).nonce }
            nonces.append((origin, nonce))
            if nonces.count > Self.maximumCount { nonces.removeFirst() }
            return known != nonce
        }
    }

    /// Returns the proof for a request.
    func proof(for request: PipelineRequest, key: DPoPKey, token: String?, date: Date) throws -> String {
        let origin = request.origin
        return try key.proof(
            .init(
                method: request.method.rawValue,
                url: origin.description + request.path,
                token: token,
                nonce: nonces.withLock { $0.first { $0.origin == origin }?.nonce },
                date: date,
                id: Base64URL.text(of: secrets(16))
            )
        )
    }
}
