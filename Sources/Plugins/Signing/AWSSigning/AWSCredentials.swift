#if Crypto || canImport(CryptoKit)
public import PipelineCore

/// The credentials of an AWS account, a user or a role.
///
/// **Secrets**: the description shows the access key identifier, which is not secret, and nothing else.
public struct AWSCredentials: Sendable, Hashable, SafelyDescribed {
    /// The identifier of the access key.
    public let accessKeyID: String
    /// The secret access key.
    public let secretAccessKey: String
    /// The token of temporary credentials; `nil` for others.
    public let sessionToken: String?

    /// Creates credentials.
    ///
    /// - Parameters:
    ///   - accessKeyID: the identifier of the access key.
    ///   - secretAccessKey: the secret access key.
    ///   - sessionToken: the token of temporary credentials; defaults to none.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }

    /// The access key identifier.
    public var description: String { "AWS credentials \(accessKeyID)" }
}
#endif
