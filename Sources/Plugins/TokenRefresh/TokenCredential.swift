public import Foundation

/// What `TokenRefreshPlugin` needs to know of a credential; everything else in it belongs to the application.
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

    /// When the token expires; with `nil` it is used until a server refuses it.
    var expiry: Date? { get }

    /// When the token was issued, from which its life is counted. Defaults to `nil`: the life is counted from when the plugin
    /// received the credential.
    var issuedAt: Date? { get }
}

extension TokenCredential {
    /// `nil`.
    public var issuedAt: Date? { nil }
}
