/// A target that needs an access token, and chooses its scheme.
///
/// A token is sent only for targets that conform and whose ``authorizationType`` is not `nil`.
public protocol AccessTokenAuthorizable: Sendable {
    /// The scheme with which the token is sent; `nil` sends no token.
    var authorizationType: AuthorizationType? { get }
}

/// The scheme that precedes a token in the Authorization field.
///
/// Source: RFC 9110 §11.4, https://www.rfc-editor.org/rfc/rfc9110.html#section-11.4
public struct AuthorizationType: Sendable, Hashable {
    /// The scheme as it is sent, such as `Bearer`.
    public let scheme: String

    /// The `Basic` scheme; the token is sent unchanged and must already be base64 (RFC 7617).
    public static let basic = AuthorizationType(scheme: "Basic")

    /// The `Bearer` scheme of OAuth 2.0 (RFC 6750).
    public static let bearer = AuthorizationType(scheme: "Bearer")

    /// Creates a scheme with another name.
    public static func custom(_ scheme: String) -> AuthorizationType {
        AuthorizationType(scheme: scheme)
    }
}

extension RequestOptions.PluginOption {
    /// The option that `authorized()` of an `APIRequest` sets to request a token from the provider's token plugin.
    public static let authorized = Self("authorized()", of: "AccessTokenPlugin or TokenRefreshPlugin")
}
