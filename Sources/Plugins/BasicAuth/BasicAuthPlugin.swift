import HTTPTypes
public import Pipeline

/// A plugin that sends a user name and a password with every request, without waiting for a challenge.
///
/// ```swift
/// BasicAuthPlugin(username: "shop", password: key)
/// BasicAuthPlugin { target in target is AdminAPI ? adminCredential : nil }
/// BasicAuthPlugin { target in try await keychain.credential(for: target) }
/// ```
///
/// A call may have a credential of its own, also with a plugin that has none:
///
/// ```swift
/// let options = RequestOptions { $0.basicAuth = .init(username: name, password: password) }
/// try await provider.request(.login, options: options)
/// ```
///
/// **Position**: inside a plugin that retries, so that the closure runs for each attempt; outside it, it runs once. Inside or outside an
/// `AccessTokenPlugin`, a target that asks for a token gets the token. Of two in one stack, the outer one's credential is sent.
///
/// **Effects**: sets Authorization to `Basic` and the base64 of `username:password` in UTF-8, Normalization Form C. A request that
/// already has an Authorization field is untouched, and so is a request of a target without a credential; the option `basicAuth` wins
/// over both. Requests that an outer plugin has led to another origin than the endpoint's are untouched. The closure runs only if its
/// result is needed. Nothing is kept between calls.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `cleartext` | `.loopbackOnly`: no credential is sent over http, except to a loopback address |
///
/// **Errors**: what the closure throws, as the underlying error of code `plugin`; `invalidRequest.credential` for a user name with a
/// colon, for a control character in either, and for a request that `cleartext` does not allow.
///
/// **Secrets**: the field is marked as secret and dropped when a redirect leaves the origin. No error shows the user name or the
/// password.
///
/// Source: RFC 7617 §2, https://www.rfc-editor.org/rfc/rfc7617.html#section-2
public struct BasicAuthPlugin: Stage.Prepare {
    private let cleartext: CleartextPolicy
    private let credential: @Sendable (any TargetType) async throws -> PasswordCredential?

    /// Creates a plugin that sends one credential with all targets.
    ///
    /// - Parameters:
    ///   - username: the user name, without a colon.
    ///   - password: the password.
    ///   - cleartext: where the credential may be sent over http.
    public init(username: String, password: String, cleartext: CleartextPolicy = .loopbackOnly) {
        let credential = PasswordCredential(username: username, password: password)
        self.init(cleartext: cleartext) { _ in credential }
    }

    /// Creates a plugin that asks for the credential of each target.
    ///
    /// - Parameters:
    ///   - cleartext: where a credential may be sent over http.
    ///   - credential: returns the credential for a target, `nil` for none. It may suspend and throw. By default, only calls with the
    ///     option `basicAuth` have one.
    public init(
        cleartext: CleartextPolicy = .loopbackOnly,
        credential: @escaping @Sendable (any TargetType) async throws -> PasswordCredential? = { _ in nil }
    ) {
        self.cleartext = cleartext
        self.credential = credential
    }

    /// Sets Authorization where there is a credential and none is set.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        guard context.endpoint.hasOrigin(of: request),
            let credential = try await credential(for: request, context)
        else { return }
        try CredentialScope.check(request, cleartext, "a password")
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
    /// `PluginCapability.setsCredential`.
    public var capabilities: Set<PluginCapability> { [.setsCredential] }
}
