/// A target that wants an access token, and says in which form.
///
/// Only targets that conform, with a type that is not `nil`, are given a token.
public protocol AccessTokenAuthorizable: Sendable {
    /// The form in which the token is sent; `nil` sends none.
    var authorizationType: AuthorizationType? { get }
}

/// The scheme that stands before a token in the Authorization field.
///
/// Source: RFC 9110 §11.4, https://www.rfc-editor.org/rfc/rfc9110.html#section-11.4
public struct AuthorizationType: Sendable, Hashable {
    /// The scheme as it is sent, for example `Bearer`.
    public let scheme: String

    /// `Basic`; the token is sent as given and must be base64 already (RFC 7617).
    public static let basic = AuthorizationType(scheme: "Basic")

    /// `Bearer` (RFC 6750).
    public static let bearer = AuthorizationType(scheme: "Bearer")

    /// Any other scheme.
    public static func custom(_ scheme: String) -> AuthorizationType {
        AuthorizationType(scheme: scheme)
    }
}

extension RequestOptions.PluginOption {
    /// A request for a token of the provider's token plugin, as `authorized()` of an `APIRequest` makes it.
    public static let authorized = Self("authorized()", of: "AccessTokenPlugin or TokenRefreshPlugin")
}
