public import Foundation

/// The part of a credential that `TokenRefreshPlugin` uses; everything else in it belongs to the application.
///
/// ```swift
/// struct Session: TokenCredential {
///     let accessToken: String
///     let expiry: Date?
///     let refreshToken: String
/// }
/// ```
public protocol TokenCredential: Sendable {
    /// The token to send, without its scheme.
    ///
    /// An empty token counts as none: the credential is refreshed before it is used. If the new token is empty, too,
    /// the call fails with `invalidRequest.headerValue`.
    var accessToken: String { get }

    /// The date when the token expires; with `nil`, it is used until a server refuses it.
    var expiry: Date? { get }

    /// The date when the token was issued, from which its lifetime is counted.
    ///
    /// Defaults to `nil`: the lifetime is counted from the moment when the plugin received the credential.
    var issuedAt: Date? { get }
}

extension TokenCredential {
    /// The default, `nil`: the token's date of issue is unknown.
    public var issuedAt: Date? { nil }
}
