public import Foundation

/// What `TokenRefreshPlugin` has to know of a credential; whatever else it holds is the application's own.
///
/// ```swift
/// struct Session: TokenCredential {
///     let accessToken: String
///     let expiry: Date?
///     let refreshToken: String
/// }
/// ```
public protocol TokenCredential: Sendable {
    /// The token that is sent, without its scheme.
    var accessToken: String { get }

    /// When the token expires; `nil` when nobody knows, and it is used until a server refuses it.
    var expiry: Date? { get }
}
