import Pipeline

/// Checks whether a credential may be sent over an unencrypted connection.
enum CredentialScope {
    /// Throws if a policy does not allow a request to carry a credential.
    ///
    /// - Throws: `PipelineError` with code `invalidRequest.credential`.
    static func check(_ request: PipelineRequest, _ policy: CleartextPolicy, _ credential: String) throws {
        guard !policy.allows(request) else { return }
        throw PipelineError(.invalidRequest(.credential), "\(credential) would leave over http, readable on the way")
    }
}
