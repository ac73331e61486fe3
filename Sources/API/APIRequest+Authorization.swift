public import Pipeline

extension APIRequest {
    /// A copy that sends a name and a password, as Basic.
    ///
    /// **Effects**: sets Authorization to `Basic` and the base64 of `email:password` in UTF-8, Normalization Form C; letters keep their
    /// case. It replaces a header field of the request, and a token given before. A plugin that sets Authorization itself, as
    /// AccessTokenPlugin does for a request that asks for a token, wins.
    ///
    /// **Errors**: `invalidRequest.credential` for a name with a colon, for a control character in either, and over http to another machine
    /// unless the server ``ServerURL/allowsCleartext``, also when a plugin leads the request there; nothing is sent then.
    ///
    /// **Secrets**: no error and no description shows either. A redirect to another origin drops the field.
    ///
    /// Source: RFC 7617 §2, https://www.rfc-editor.org/rfc/rfc7617.html#section-2
    ///
    /// - Parameters:
    ///   - email: the user's name.
    ///   - password: the password.
    /// - Returns: the copy.
    public func basicAuth(email: String, password: String) -> Self {
        with { $0.credential = APICredential(.basic(email, password)) }
    }

    /// A copy that sends a token, as Bearer; AccessTokenPlugin is for tokens that change.
    ///
    /// **Errors**: `invalidRequest.credential` for a token that is not one word, and over http to another machine
    /// unless the server ``ServerURL/allowsCleartext``, also when a plugin leads the request there; nothing is sent then.
    ///
    /// **Secrets**: as `basicAuth(email:password:)`.
    ///
    /// Source: RFC 6750 §2.1, https://www.rfc-editor.org/rfc/rfc6750.html#section-2.1
    ///
    /// - Parameter token: the token.
    /// - Returns: the copy.
    public func bearer(_ token: String) -> Self {
        with { $0.credential = APICredential(.bearer(token)) }
    }

    /// A copy that asks a token plugin of the provider for a token, sent in this form.
    public func authorized(_ type: AuthorizationType? = .bearer) -> Self { with { $0.authorizationType = type } }
}
