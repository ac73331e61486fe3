import HTTPTypes
public import PipelineCore

/// A plugin that sends a user name and a password with every request, without waiting for a challenge.
///
/// ```swift
/// BasicAuthPlugin(username: "shop", password: key)
/// BasicAuthPlugin { target in target is AdminAPI ? adminCredential : nil }
/// BasicAuthPlugin { target in try await keychain.credential(for: target) }
/// ```
///
/// A call may have its own credential, even if the plugin has none:
///
/// ```swift
/// let options = RequestOptions { $0.basicAuth = .init(username: name, password: password) }
/// try await provider.request(.login, options: options)
/// ```
///
/// **Effects**
///
/// - Sets Authorization to `Basic` and the base64 of `username:password` in UTF-8, Normalization Form C.
/// - Does not touch a request that already has an Authorization field, or a request of a target without a credential.
///   The option `basicAuth` overrides both.
/// - Does not touch requests that an outer plugin has moved to an origin other than the endpoint's.
/// - Runs the closure only if its result is needed, and keeps nothing between calls.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `scope` | `CredentialScope.endpoint` |
/// | `cleartext` | `.loopbackOnly`: no credential is sent over http, except to a loopback address |
///
/// **Position**
///
/// - Inside a plugin that retries, so that the closure runs for each attempt. Outside it, the closure runs once.
/// - Inside or outside ``AccessTokenPlugin``: a target that asks for a token gets the token.
/// - If a stack has two, the outer one's credential is sent.
///
/// **Errors**
///
/// - An error that the closure throws becomes the underlying error of a failure with code `plugin`.
/// - `invalidRequest.credential`: the user name has a colon, the user name or the password has a control character, or
///   `cleartext` does not allow the request.
///
/// **Secrets**: the field is marked as secret and dropped when a redirect leaves the origin. No error shows the user
/// name or the password.
///
/// Source: RFC 7617 §2, https://www.rfc-editor.org/rfc/rfc7617.html#section-2
public struct BasicAuthPlugin: Stage.Prepare {
    private let scope: CredentialScope
    private let cleartext: CleartextPolicy
    private let credential: @Sendable (any TargetType) async throws -> PasswordCredential?

    /// Creates a plugin that sends the same credential for all targets.
    ///
    /// - Parameters:
    ///   - username: the user name, without a colon.
    ///   - password: the password.
    ///   - scope: the requests that may carry the credential; defaults to those to the endpoint's own origin.
    ///   - cleartext: where the credential may be sent over http.
    public init(
        username: String,
        password: String,
        scope: CredentialScope = .endpoint,
        cleartext: CleartextPolicy = .loopbackOnly
    ) {
        let credential = PasswordCredential(username: username, password: password)
        self.init(scope: scope, cleartext: cleartext) { _ in credential }
    }

    /// Creates a plugin that gets the credential of each target from a closure.
    ///
    /// - Parameters:
    ///   - scope: the requests that may carry the credential; defaults to those to the endpoint's own origin.
    ///   - cleartext: where a credential may be sent over http.
    ///   - credential: returns the credential for a target, or `nil` for none. It may suspend and throw. By default,
    ///     only calls with the option `basicAuth` have a credential.
    public init(
        scope: CredentialScope = .endpoint,
        cleartext: CleartextPolicy = .loopbackOnly,
        credential: @escaping @Sendable (any TargetType) async throws -> PasswordCredential? = { _ in nil }
    ) {
        self.scope = scope
        self.cleartext = cleartext
        self.credential = credential
    }

    /// Sets Authorization if there is a credential for the call and the field is not set; the option `basicAuth`
    /// replaces it.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        guard scope.contains(request, context),
            let credential = try await credential(for: request, context)
        else { return }
        try cleartext.check(request, carrying: "a password")
        try request.setHeader(credential.basicAuthorization(), for: .authorization, isSecret: true)
    }

    private func credential(
        for request: PipelineRequest,
        _ context: PipelineContext
    ) async throws -> PasswordCredential? {
        if let credential = context.options.basicAuth { return credential }
        guard !request.headers.contains(.authorization) else { return nil }
        return try await credential(context.target)
    }
}

extension BasicAuthPlugin: CapabilityDeclaring {
    /// The capability of this plugin: `PluginCapability.setsCredential`.
    public var capabilities: Set<PluginCapability> { scope.capabilities.union([.setsCredential]) }
}
