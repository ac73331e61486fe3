import HTTPTypes
public import Pipeline

/// A plugin that sets Authorization for targets that ask for an access token.
///
/// A target asks by conforming to `AccessTokenAuthorizable` with a type other than `nil`, also inside a `MultiTarget`.
///
/// ```swift
/// AccessTokenPlugin { target in try await session.token(for: target) }
/// ```
///
/// **Position**: inside a plugin that retries, so that each attempt gets a fresh token; outside it, every attempt has the token of the
/// first. Outside a plugin that signs or shares requests. Of two in one stack, the inner one's token is sent.
///
/// **Effects**: sets Authorization to `<type> <token>`, replacing a previous value. The token is sent as given, also for `.basic`. If the
/// closure returns `nil`, the request is sent without a token, and the server's 401 is the response. Requests of other targets, and requests
/// that an outer plugin has led to another origin than the endpoint's, are untouched, and the closure does not run for them. Nothing is
/// kept between calls.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `cleartext` | `.loopbackOnly`: no token is sent over http, except to a loopback address |
///
/// The policy is applied to the URL that is sent, after the provider's endpoint closure.
///
/// **Errors**: what the closure throws, as the underlying error of code `plugin`; `invalidRequest.headerValue` for a token that is empty or
/// has a character that a field cannot hold; `invalidRequest.credential` for a token that its scheme cannot carry (`.basic`: it is not
/// base64, such as a plain `user:password`; `.bearer`: it has a blank, a comma or a quotation mark), and for a request that `cleartext`
/// does not allow, before the closure runs.
///
/// **Secrets**: the field is marked as secret and dropped when a redirect leaves the origin. No error shows the token.
///
/// Source: RFC 6750 §2.1, https://www.rfc-editor.org/rfc/rfc6750.html#section-2.1,
/// RFC 7617 §2, https://www.rfc-editor.org/rfc/rfc7617.html#section-2
public struct AccessTokenPlugin: Stage.Prepare {
    private let cleartext: CleartextPolicy
    private let token: @Sendable (any TargetType) async throws -> String?

    /// Creates a plugin.
    ///
    /// - Parameters:
    ///   - cleartext: where a token may be sent over http.
    ///   - token: returns the token for a target, `nil` if no user is logged in. It may suspend and throw.
    public init(
        cleartext: CleartextPolicy = .loopbackOnly,
        token: @escaping @Sendable (any TargetType) async throws -> String?
    ) {
        self.cleartext = cleartext
        self.token = token
    }

    /// Sets Authorization for targets that ask for it.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        guard let target = context.target as? any AccessTokenAuthorizable, let type = target.authorizationType else {
            return
        }
        guard context.endpoint.hasOrigin(of: request) else { return }
        try CredentialScope.check(request, cleartext, "an access token")
        guard let token = try await token(context.target) else { return }
        try request.setAccessToken(token, type)
    }
}

extension AccessTokenPlugin: CapabilityDeclaring {
    /// `PluginCapability.setsCredential` and `PluginCapability.setsAccessToken`.
    public var capabilities: Set<PluginCapability> { [.setsCredential, .setsAccessToken] }
}

extension AccessTokenPlugin: OptionHandling {
    /// `authorized`.
    public var handledOptions: [RequestOptions.PluginOption] { [.authorized] }
}
