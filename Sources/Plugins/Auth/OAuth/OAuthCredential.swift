import Foundation
import PipelineCore

/// The tokens of a session, as they are stored.
struct OAuthCredential: TokenCredential, Codable, Hashable, SafelyDescribed {
    let accessToken: String
    let refreshToken: String?
    let isBoundToKey: Bool
    let expiry: Date?
    let issuedAt: Date?
    /// The private key of the session for DPoP, 32 bytes.
    let key: Data?
    /// A random text that all credentials of one sign-in have.
    var session: String?

    var description: String { "an OAuth credential" }
}
