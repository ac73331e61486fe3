public import Foundation

/// The part of a credential that `TokenRefreshPlugin` uses; everything else in it belongs to the application.
///
/// ```swift
/// struct Session: TokenCredential, Decodable {
///     enum CodingKeys: String, CodingKey {
///         case accessToken = "access_token", refreshToken = "refresh_token", lifetime = "expires_in"
///     }
///
///     let accessToken: String
///     let refreshToken: String
///     let lifetime: Int  // in seconds
///     var expiresIn: Duration? { .seconds(lifetime) }
/// }
/// ```
public protocol TokenCredential: Sendable {
    /// The token to send, without its scheme.
    ///
    /// An empty token counts as none: the credential is refreshed before it is used. If the new token is empty, too,
    /// the call fails with `invalidRequest.headerValue`.
    var accessToken: String { get }

    /// The date when the token expires; defaults to `nil`, so that ``expiresIn`` counts.
    ///
    /// Store it with a credential that outlives the program.
    var expiry: Date? { get }

    /// The time for which the token is valid from the moment when the plugin receives the credential, on the provider's
    /// clock; ignored if there is an ``expiry``.
    ///
    /// Defaults to `nil`: without an expiry, the token is used until a server refuses it.
    var expiresIn: Duration? { get }

    /// The date when the token was issued, from which its lifetime is counted.
    ///
    /// Defaults to `nil`: the lifetime is counted from the moment when the plugin received the credential.
    var issuedAt: Date? { get }
}

extension TokenCredential {
    /// The default, `nil`: the date when the token expires is unknown.
    public var expiry: Date? { nil }

    /// The default, `nil`: the lifetime of the token is unknown.
    public var expiresIn: Duration? { nil }

    /// The default, `nil`: the token's date of issue is unknown.
    public var issuedAt: Date? { nil }
}
