import Foundation
import PipelinePlugins

/// A credential of the tests.
struct Session: TokenCredential, Equatable {
    var accessToken: String
    var expiry: Date?
    var issuedAt: Date?
    var refreshToken = "r"
}
