import HTTPTypes
public import PipelineCore

/// A plugin that signs in with OAuth 2.0, and sends and refreshes the access token.
///
/// ```swift
/// let oauth = OAuthPlugin(
///     .discovered(at: issuer),
///     client: .confidential(id: "reports", secret: secret),
///     grant: .clientCredentials(scopes: ["read"]),
///     transport: transport)
/// let provider = Provider<ReportsAPI>(transport: transport, plugins: [RetryPlugin(), oauth])
/// ```
///
/// A target asks for the token by conforming to `AccessTokenAuthorizable`. With
/// ``OAuthGrant/clientCredentials(scopes:)``, calls obtain a token when they need one. With the other grants, the user
/// signs in with ``signIn()``; without a session, calls fail with `sessionEnded`.
///
/// **Effects**
///
/// - Sends the token and refreshes it as ``TokenRefreshPlugin`` does, which it contains: one refresh for all calls,
///   before the token expires and when a server refuses it.
/// - Sends its own requests through `transport` and `plugins`, with the option `isTokenRequest`. Follows no redirect of
///   them, and reads at most 256 KiB of a response. Reads the server's metadata once.
/// - Loads the credential of an earlier run at the first call or at ``isSignedIn``. Stores each new one before the
///   calls that wait for it continue. If it cannot be stored after a refresh, `onStoreFailure` gets the error, the
///   calls continue with it, and the next call starts another try, for which it does not wait. Until one succeeds, a
///   later run has to sign in. A refresh that has begun also goes on and is stored after its calls have left.
/// - Before a refresh, before its result is stored, and after the server refused it, reads the store. If another
///   process has refreshed, uses that credential. If another process has signed out or signed in, ends the session in
///   this process; tokens that it still receives are revoked. Two processes that refresh at the same moment may still
///   use one refresh token twice. A server that detects this ends the session.
/// - A refresh that the server refuses with `invalid_grant` ends the session and removes its credential, and no other,
///   from the store.
/// - With DPoP, sets Authorization to `DPoP <token>` and adds a proof to each exchange, also after a redirect in the
///   origin. A request that the server refuses because of a nonce is sent a second time if its body can be replayed.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `store` | `MemoryCredentialStore`: the session ends with the program |
/// | `account` | `default` |
/// | `dpop` | `.disabled` |
/// | `scope` | `CredentialScope.endpoint` |
/// | `policy` | ``TokenRefreshPolicy`` |
/// | `onStoreFailure` | a warning in `PipelineContext.operatorLog` |
/// | `plugins` | none |
/// | `configuration` | `ProviderConfiguration` without redirects; its clock measures the sign-in |
///
/// **Position**: as for ``TokenRefreshPlugin``: inside a plugin that retries, outside one that signs or shares
/// requests.
///
/// **Errors**: those of ``TokenRefreshPlugin``, errors of the store, and codes of the kind `oauth`. A failed refresh
/// has the code `tokenRefresh`, with the OAuth error as its underlying error.
///
/// **Secrets**: no error and no description shows a token, a code, a verifier, a secret or a key. A log of bodies shows
/// the texts of errors as the server sent them, but hides secrets of 16 bytes or more of the request. The URL for the
/// browser contains the state and the hash of the verifier. State and verifiers have 128 and 256 random bits.
///
/// Source: RFC 6749, https://www.rfc-editor.org/rfc/rfc6749.html, RFC 7636, RFC 8252, RFC 8414, RFC 8628, RFC 9207,
/// RFC 9449
public struct OAuthPlugin: Stage.Intercept, Stage.Exchange, SafelyDescribed {
    let session: OAuthSession
    let tokens: TokenRefreshPlugin<OAuthCredential>

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - server: the authorization server.
    ///   - client: the registration of the client.
    ///   - grant: how the first token is obtained.
    ///   - store: the place that keeps the session for later runs of the program.
    ///   - account: distinguishes several sessions of one client in a store.
    ///   - onStoreFailure: gets the error if the credential of a refresh cannot be stored; `nil` logs a warning.
    ///   - dpop: whether tokens are bound to a key.
    ///   - scope: the requests that may carry the token; defaults to those to the endpoint's own origin.
    ///   - policy: when the token is refreshed, and how often.
    ///   - transport: the transport for requests to the authorization server.
    ///   - plugins: the plugins for requests to the authorization server, such as a `LoggingPlugin`.
    ///   - configuration: the settings for requests to the authorization server.
    public init(
        _ server: OAuthServer,
        client: OAuthClient,
        grant: OAuthGrant,
        store: any CredentialStore = MemoryCredentialStore(),
        account: String = "default",
        onStoreFailure: (@Sendable (any Error) -> Void)? = nil,
        dpop: DPoPPolicy = .disabled,
        scope: CredentialScope = .endpoint,
        policy: TokenRefreshPolicy = TokenRefreshPolicy(),
        transport: any Transport,
        plugins: [any PluginType] = [],
        configuration: ProviderConfiguration = ProviderConfiguration()
    ) {
        let requests = OAuthRequests(
            client: client,
            transport: transport,
            plugins: plugins,
            configuration: configuration
        )
        let session = OAuthSession(
            server: server,
            grant: grant,
            store: store,
            account: account,
            usesKey: dpop.isEnabled,
            requests: requests,
            onStoreFailure: onStoreFailure
        )
        self.session = session
        if grant.isClientCredentials {
            tokens = TokenRefreshPlugin(policy: policy, scope: scope) { try await session.renew($0, $1) }
        } else {
            tokens = TokenRefreshPlugin(credential: nil, policy: policy, scope: scope) {
                try await session.renew($0, $1)
            }
        }
    }

    /// The name of the plugin, `OAuthPlugin`.
    public var name: String { "OAuthPlugin" }

    /// Restores a session of an earlier run, and sends the request with its token.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        if session.mayRestore, !context.options.isTokenRequest,
            (context.target as? any AccessTokenAuthorizable)?.authorizationType != nil
        {
            try await restore()
        }
        session.storeAgain(context.operatorLog)
        return try await tokens.intercept(request, context: context, next: next)
    }

    /// Adds a proof of possession if the token of the request is bound to a key.
    public func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        guard let value = request.headers[.authorization],
            let token = value.split(separator: " ", maxSplits: 1).last, let key = session.key(ofToken: token),
            let field = DPoPProofs.field
        else { return try await send(request) }
        let proofs = session.requests.proofs
        func sign() throws -> (PipelineRequest, DPoPProofs.Proof) {
            var signed = request
            try signed.setHeader("DPoP " + token, for: .authorization, isSecret: true)
            let proof = try proofs.proof(for: request, key: key, token: String(token), date: context.clock.date)
            try signed.setHeader(proof.text, for: field, isSecret: true)
            return (signed, proof)
        }
        var (signed, proof) = try sign()
        var response = try await send(signed)
        let isNewNonce = proofs.note(response, after: proof)
        if isNewNonce, response.statusCode == 401, request.body.isReplayable, asksForNonce(response) {
            await response.discardBody(context, within: nil)
            (signed, proof) = try sign()
            response = try await send(signed)
            proofs.note(response, after: proof)
        }
        // The request of the hop, so that a refusal is recognized as one of its token.
        response.request.headers[.authorization] = value
        response.request.headers[field] = nil
        return response
    }

    private func asksForNonce(_ response: PipelineResponse) -> Bool {
        AuthenticationChallenge.challenges(in: response.headers).contains {
            $0.isScheme("DPoP") && $0["error"] == "use_dpop_nonce"
        }
    }

    /// Loads the credential of an earlier run.
    func restore() async throws {
        try await session.restore { await tokens.setCredential($0) }
    }
}
