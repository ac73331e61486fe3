#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// A plugin that sets the credential with which an authentication challenge is answered.
@available(swift, deprecated: 7, message: "Use CredentialsPlugin of PipelineAuth.")
public final class CredentialsPlugin: PluginType {
    /// Returns the credential for a target; `nil` for none.
    public typealias CredentialClosure = (any TargetType) -> URLCredential?

    private let credentialsClosure: CredentialClosure

    /// Creates a plugin that calls a closure for each request.
    public init(credentialsClosure: @escaping CredentialClosure) {
        self.credentialsClosure = credentialsClosure
    }

    /// Sets the credential of the request.
    public func willSend(_ request: any RequestType, target: any TargetType) {
        if let credential = credentialsClosure(target) { _ = request.authenticate(with: credential) }
    }
}
