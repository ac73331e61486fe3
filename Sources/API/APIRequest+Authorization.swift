public import Pipeline

private enum Authorized: RequestOptionKey {
    static let defaultValue = false

    static func pluginOption(for value: Bool) -> RequestOptions.PluginOption? { value ? .authorized : nil }
}

extension APIRequest {
    /// Returns a copy that is sent with a name and a password in the scheme Basic.
    ///
    /// **Effects**: sets Authorization to `Basic` and the base64 of `username:password` in UTF-8, Normalization Form C; letters
    /// keep their case. It replaces a header field of the request, and a token given before. A plugin that sets Authorization
    /// itself, as AccessTokenPlugin does for a request that asks for a token, wins.
    ///
    /// **Errors**: `invalidRequest.credential` for a name with a colon, for a control character in either, and over http to another machine
    /// unless ``ServerURL/cleartext`` of the server allows it, also when a plugin leads the request there; nothing is sent then.
    ///
    /// **Secrets**: no error and no description shows either. A redirect to another origin drops the field.
    ///
    /// Source: RFC 7617 §2, https://www.rfc-editor.org/rfc/rfc7617.html#section-2
    ///
    /// - Parameters:
    ///   - username: the name of the user, such as an email address.
    ///   - password: the password.
    /// - Returns: the copy.
    public func basicAuth(username: String, password: String) -> Self {
        with { $0.credential = APICredential(.basic(username, password)) }
    }

    /// A copy that sends a token, as Bearer; AccessTokenPlugin is for tokens that change.
    ///
    /// **Errors**: `invalidRequest.credential` for a token that is not one word, and over http to another machine
    /// unless ``ServerURL/cleartext`` of the server allows it, also when a plugin leads the request there; nothing is sent then.
    ///
    /// **Secrets**: as `basicAuth(username:password:)`.
    ///
    /// Source: RFC 6750 §2.1, https://www.rfc-editor.org/rfc/rfc6750.html#section-2.1
    ///
    /// - Parameter token: the token.
    /// - Returns: the copy.
    public func bearer(_ token: String) -> Self {
        with { $0.credential = APICredential(.bearer(token)) }
    }

    /// Returns a copy that is sent with a token of the provider's token plugin, such as AccessTokenPlugin.
    ///
    /// Without such a plugin the `UnhandledOptionPolicy` of the provider applies.
    ///
    /// - Parameter type: the form of the token; `nil` for no token.
    /// - Returns: the copy.
    public func authorized(_ type: AuthorizationType? = .bearer) -> Self {
        with { parts in
            parts.authorizationType = type
            parts.options[Authorized.self] = type != nil
        }
    }

    /// The form in which a token plugin sends its token, `nil` for no token.
    public var authorizationType: AuthorizationType? { parts.authorizationType }
}
