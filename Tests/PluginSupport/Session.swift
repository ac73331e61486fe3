import Foundation
import PipelineAuth
import PipelinePlugins

/// A credential for tests.
struct Session: TokenCredential, Equatable {
    var accessToken: String
    var expiry: Date?
    var issuedAt: Date?
    var refreshToken = "r"
}
