public import PipelineCore

/// The client registration that an ``OAuthPlugin`` uses.
///
/// **Secrets**: the description shows neither the identifier nor the secret.
public struct OAuthClient: SafelyDescribed, Sendable {
    /// How a confidential client sends its secret.
    ///
    /// Source: RFC 6749 §2.3.1, https://www.rfc-editor.org/rfc/rfc6749.html#section-2.3.1
    public struct Authentication: Sendable, Hashable {
        enum Kind { case basic, post }

        let kind: Kind

        /// In the field Authorization, which every server supports.
        public static let basic = Self(kind: .basic)
        /// In the form of the request.
        public static let post = Self(kind: .post)
    }

    let id: String
    let secret: String?
    let authentication: Authentication

    /// A client without a secret, such as an app or a command-line tool.
    public static func `public`(id: String) -> OAuthClient {
        OAuthClient(id: id, secret: nil, authentication: .post)
    }

    /// A client that keeps a secret, such as a server.
    ///
    /// - Parameters:
    ///   - id: the client identifier.
    ///   - secret: the client secret.
    ///   - authentication: how the secret is sent.
    /// - Returns: the registration.
    public static func confidential(
        id: String,
        secret: String,
        authentication: Authentication = .basic
    ) -> OAuthClient {
        OAuthClient(id: id, secret: secret, authentication: authentication)
    }

    /// Whether the client has a secret.
    public var description: String { secret == nil ? "a public OAuth client" : "a confidential OAuth client" }
}
