import HTTPTypes
public import PipelineCore

/// A plugin that sends an access token with the requests of targets that ask for one.
///
/// ```swift
/// AccessTokenPlugin { target in try await session.token(for: target) }
/// ```
///
/// A target asks by conforming to `AccessTokenAuthorizable` with an authorization type other than `nil`. A target
/// inside a `MultiTarget` can ask, too.
///
/// **Effects**
///
/// - Sets Authorization to `<type> <token>`, replacing a previous value. The token is sent as given, also for `.basic`.
/// - If the closure returns `nil` or an empty token, sends the request without a token. The caller gets the server's
///   401.
/// - Does not touch requests of other targets, or requests that an outer plugin has moved to an origin other than the
///   endpoint's. The closure does not run for them.
/// - With ``sessions(scope:cleartext:_:)``, the closure also names the session of the token. A call then ends with
///   `sessionEnded` when another session has begun: a retry, a copy and the refresh of a stale response never act as
///   the next user. For an app with a login, `TokenRefreshPlugin` does this and more.
/// - Keeps nothing between calls.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `cleartext` | `.loopbackOnly`: no token is sent over http, except to a loopback address |
///
/// The policy applies to the URL that is sent, after the provider's endpoint closure.
///
/// **Position**
///
/// - Inside a plugin that retries, so that each attempt gets a fresh token. Outside it, all attempts carry the first
///   token.
/// - Outside a plugin that signs or shares requests.
/// - If a stack has two, the inner one's token is sent.
///
/// **Errors**
///
/// - An error that the closure throws becomes the underlying error of a failure with code `plugin`.
/// - `sessionEnded`: the session of the call has ended.
/// - `invalidRequest.headerValue`: the token has a character that a header field cannot hold.
/// - `invalidRequest.credential`: the scheme cannot carry the token. A token for `.basic` must be base64, not a plain
///   `user:password`; one for `.bearer` must not have a blank, a comma or a quotation mark.
/// - `invalidRequest.credential`: `cleartext` does not allow the request. The closure does not run.
///
/// **Secrets**: the field is marked as secret and dropped when a redirect leaves the origin. No error shows the token.
///
/// Source: RFC 6750 §2.1, https://www.rfc-editor.org/rfc/rfc6750.html#section-2.1, RFC 7617 §2,
/// https://www.rfc-editor.org/rfc/rfc7617.html#section-2
public struct AccessTokenPlugin: Stage.Prepare {
    private let scope: CredentialScope
    private let cleartext: CleartextPolicy
    private let token: @Sendable (any TargetType) async throws -> SessionToken?
    /// Distinguishes what the plugin and its copies remember about a call from what another one does.
    private let id = UInt64.random(in: .min ... .max)

    /// Creates a plugin that gets its tokens from a closure.
    ///
    /// - Parameters:
    ///   - scope: the requests that may carry the credential; defaults to those to the endpoint's own origin.
    ///   - cleartext: where a token may be sent over http.
    ///   - token: returns the token for a target, or `nil` if no user is logged in. It may suspend and throw.
    public init(
        scope: CredentialScope = .endpoint,
        cleartext: CleartextPolicy = .loopbackOnly,
        token: @escaping @Sendable (any TargetType) async throws -> String?
    ) {
        self.init(scope, cleartext) { target in try await token(target).map { SessionToken($0, session: nil) } }
    }

    private init(
        _ scope: CredentialScope,
        _ cleartext: CleartextPolicy,
        _ token: @escaping @Sendable (any TargetType) async throws -> SessionToken?
    ) {
        self.scope = scope
        self.cleartext = cleartext
        self.token = token
    }

    /// Creates a plugin that gets its tokens and their sessions from a closure.
    ///
    /// - Parameters:
    ///   - scope: the requests that may carry the token; defaults to those to the endpoint's own origin.
    ///   - cleartext: where a token may be sent over http.
    ///   - token: returns the token for a target and the session that it belongs to, or `nil` if no user is logged in.
    ///     It may suspend and throw.
    /// - Returns: the plugin.
    public static func sessions(
        scope: CredentialScope = .endpoint,
        cleartext: CleartextPolicy = .loopbackOnly,
        _ token: @escaping @Sendable (any TargetType) async throws -> SessionToken?
    ) -> AccessTokenPlugin {
        AccessTokenPlugin(scope, cleartext, token)
    }

    /// Sets Authorization if the target asks for a token.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        guard let target = context.target as? any AccessTokenAuthorizable, let type = target.authorizationType else {
            return
        }
        guard scope.contains(request, context) else { return }
        try cleartext.check(request, carrying: "an access token")
        var token = try await token(context.target)
        if token?.token.isEmpty == true { token = nil }
        try checkSession(token, context)
        guard let token else { return }
        try request.setAccessToken(token.token, type)
    }

    /// Remembers the session of a call, and checks that it has not changed since.
    private func checkSession(_ token: SessionToken?, _ context: PipelineContext) throws {
        guard token?.session != nil || context[CallSessions.self][id] != nil else { return }
        let first = context.update(CallSessions.self) { sessions in
            let first = sessions[id] ?? token?.session
            sessions[id] = first
            return first
        }
        guard first != token?.session else { return }
        throw PipelineError(
            .sessionEnded,
            "another session has begun since the call began; nothing more is sent for it"
        )
    }
}

/// The sessions of a call, by plugin.
private enum CallSessions: PipelineContext.Key {
    static let defaultValue: [UInt64: String] = [:]
    static let isInherited = true
}

extension AccessTokenPlugin: CapabilityDeclaring {
    /// The capabilities of this plugin: `PluginCapability.setsCredential` and `PluginCapability.setsAccessToken`.
    public var capabilities: Set<PluginCapability> {
        scope.capabilities.union([.setsCredential, .setsAccessToken])
    }
}

extension AccessTokenPlugin: OptionHandling {
    /// The option that this plugin handles: `authorized`.
    public var handledOptions: [RequestOptions.PluginOption] { [.authorized] }
}
