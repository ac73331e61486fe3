import HTTPTypes
public import Pipeline

/// Sends a user name and a password with every request, without waiting to be asked for them.
///
/// ```swift
/// BasicAuthPlugin(username: "shop", password: key)
/// BasicAuthPlugin(username: "shop", password: key) { target in target is AdminAPI }
/// BasicAuthPlugin { target in try await keychain.credential(for: target) }
/// ```
///
/// A call may have a credential of its own, for which a plugin without any will do:
///
/// ```swift
/// let options = RequestOptions { $0.basicAuth = .init(username: name, password: password) }
/// try await provider.request(.login, options: options)
/// ```
///
/// **Position**: inside a plugin that sends again, so that the closure is asked for each attempt; outside it once. Inside or outside
/// an `AccessTokenPlugin`, a target that asks for a token gets the token. Of two in one stack the outer one's credential is
/// sent.
///
/// **Effects**: sets Authorization to `Basic` and the base64 of `username:password` in UTF-8, Normalization Form C. A request
/// that has an Authorization already is untouched, and so is one of a target for which there is no credential; the option
/// `basicAuth` wins over both. Requests that a plugin outside has led to another origin than the endpoint's are untouched. The
/// closure is asked only when its answer decides. Nothing is kept between calls.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `where` | all targets |
/// | `allowsCleartext` | `false`: no credential leaves over http, except to the machine itself |
///
/// **Errors**: what the closure throws, as the underlying error of code `plugin`; `invalidRequest.credential` for a user name
/// with a colon, for a control character in either, and for a credential that would leave over http to another machine.
///
/// **Secrets**: the field is marked as secret and dropped when a redirect leaves the origin, and no error names the user or the
/// password.
///
/// Source: RFC 7617 §2, https://www.rfc-editor.org/rfc/rfc7617.html#section-2
public struct BasicAuthPlugin: Stage.Prepare {
    private let allowsCleartext: Bool
    private let credential: @Sendable (any TargetType) async throws -> PasswordCredential?

    /// Makes a plugin with one credential.
    ///
    /// - Parameters:
    ///   - username: the user name, without a colon.
    ///   - password: the password.
    ///   - allowsCleartext: whether a credential may leave over http; always allowed to the machine itself.
    ///   - isIncluded: which targets it is sent with; by default all.
    public init(
        username: String,
        password: String,
        allowsCleartext: Bool = false,
        where isIncluded: @escaping @Sendable (any TargetType) -> Bool = { _ in true }
    ) {
        let credential = PasswordCredential(username: username, password: password)
        self.init(allowsCleartext: allowsCleartext) { isIncluded($0) ? credential : nil }
    }

    /// Makes a plugin that asks for the credential of each target.
    ///
    /// - Parameters:
    ///   - allowsCleartext: whether a credential may leave over http; always allowed to the machine itself.
    ///   - credential: gives the credential for a target, `nil` for none; it may wait, and may throw. By default none: only
    ///     calls with the option `basicAuth` have one.
    public init(
        allowsCleartext: Bool = false,
        credential: @escaping @Sendable (any TargetType) async throws -> PasswordCredential? = { _ in nil }
    ) {
        self.allowsCleartext = allowsCleartext
        self.credential = credential
    }

    /// Sets Authorization where there is a credential and none is set.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        guard CredentialScope.isOwnOrigin(request, context),
            let credential = try await credential(for: request, context)
        else { return }
        try CredentialScope.requireConfidential(request, allowsCleartext: allowsCleartext, "a password")
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
