public import PipelineCore

/// An access token and the session of the user that it belongs to.
public struct SessionToken: Sendable, SafelyDescribed {
    /// The token to send, without its scheme.
    public let token: String
    /// A text that differs for each login, such as an identifier of the session; `nil` if it is not known.
    public let session: String?

    /// Creates a token.
    ///
    /// - Parameters:
    ///   - token: the token to send, without its scheme.
    ///   - session: a text that differs for each login, such as an identifier of the session; `nil` if it is not known.
    public init(_ token: String, session: String?) {
        self.token = token
        self.session = session
    }

    /// A text without the token.
    public var description: String { "an access token" }
}
