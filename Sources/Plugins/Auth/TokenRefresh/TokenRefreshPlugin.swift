import HTTPTypes
public import PipelineCore
import PipelinePlugins

/// A plugin that sends an access token and refreshes it before it expires and when a server refuses it, once for all
/// calls.
///
/// ```swift
/// let auth = Provider<AuthAPI>(transport: transport)
/// let tokens = TokenRefreshPlugin(credential: keychain.session) { session, _ in
///     await keychain.store(session)
/// } refresh: { expired, _ in
///     try await auth.request(.refresh(expired.refreshToken), as: Session.self)
/// }
/// let provider = Provider<ShopAPI>(transport: transport, plugins: [RetryPlugin(), tokens, DeduplicationPlugin()])
///
/// await tokens.setCredential(session)  // after a login
/// await tokens.setCredential(nil)      // after a logout
/// ```
///
/// A target requires a token if it conforms to `AccessTokenAuthorizable` with a type other than `nil`, also inside a
/// `MultiTarget`. The application defines the type of the credential.
///
/// The refresh may use a provider that has the plugin: calls made in the closures are left alone. A login, or a
/// refresh made in a callback, must set the option `isTokenRequest`.
///
/// **Effects**
///
/// - Sets Authorization to `<type> <token>`, replacing a previous value. Requests of other targets, requests that an
///   outer plugin sends to another origin than the endpoint's, and calls with `isTokenRequest` remain unchanged and
///   wait for nothing.
/// - Keeps one credential, the waiting calls, the changes to report, and the times of the last refreshes and of the
///   last session's end. Uses the clock of the first call.
///
/// When a token is refreshed:
///
/// - Before a request is sent, if the credential expires within the leeway, which is at most half of its lifetime.
/// - After a server has refused the token. The request is then sent a second time, as a separate attempt. A call causes
///   at most one refresh: any later response is returned, even another 401.
/// - A refusal counts only if the refused request had the token and went to the endpoint's origin. The body of such a
///   response is discarded, see `PipelineResponse.discardBody(_:within:)`.
/// - A refused token that has already been replaced causes no refresh; the current token is sent.
/// - A request whose body cannot be replayed is not sent a second time: its 401 is returned, and the next call
///   refreshes first.
///
/// While a refresh runs:
///
/// - Calls that begin meanwhile wait for it. One refresh runs at a time, even if several providers share the plugin.
/// - If it fails, all waiting calls fail, and so do calls that were sent before and are refused later. The credential
///   remains, and the next call tries again.
/// - It does not belong to any call. A call that is cancelled, or whose deadline passes, stops waiting at once; the
///   others continue. When the last one has left, the refresh goes on to its end or its time limit, because the server
///   may already have replaced the refresh token. Calls that begin meanwhile join it. A call whose deadline has passed
///   never waits.
/// - A credential set by the application takes precedence over the refresh, which is cancelled. If the credential
///   continues the session, the waiting calls continue with it.
///
/// Without a session:
///
/// - Without a credential, a call that requires a token fails with `sessionEnded` and is not sent, or is sent without a
///   token, depending on `withoutCredential` of ``TokenRefreshPolicy``. A plugin made with `obtain:` first asks for a
///   credential.
/// - A session ends when the application removes or replaces the credential, and when a refresh returns `nil`. At that
///   moment, calls that wait for a token fail with `sessionEnded` and are not sent. The same applies to calls that
///   began earlier and reach the plugin later, for example from a queue, and to calls that were sent and are refused or
///   retried later. None of them uses the token of a later login. A call that began before the first login uses that
///   login's credential.
///
/// What `onChange` does:
///
/// - It receives every change of the credential exactly once and in order: login, refresh, logout, and the end of a
///   session. It is the one place to store the credential. It runs in a separate task, one change at a time, and does
///   not receive the credential that the plugin was made with.
/// - Calls that waited for a refresh continue when `onChange` has returned for that change, but wait no longer than the
///   time limit of the refresh. `setCredential` waits only for its own change. Nothing else waits for `onChange`, but
///   it receives the next change only when it has returned: show a login in a task of its own.
/// - It cannot fail: a credential is in use whether or not it could be stored. Changes that wait for a slow `onChange`
///   are kept until it has received them.
///
/// **Defaults**: ``TokenRefreshPolicy``, and
///
/// | setting | default |
/// |---|---|
/// | `scope` | `CredentialScope.endpoint` |
/// | `cleartext` | `.loopbackOnly`: tokens are sent over http only to loopback addresses |
/// | `onChange` | none |
///
/// **Position**
///
/// - Inside a plugin that retries, so that each attempt has the current token. Outside it, every attempt has the token
///   of the first.
/// - Inside `UnauthorizedPlugin`, which then sees only those 401 responses that a refresh did not prevent.
/// - Outside a plugin that signs or shares requests.
/// - In place of `AccessTokenPlugin`. Of two plugins that set a token, the inner one takes effect, and this plugin
///   ignores the refusal of another plugin's token.
///
/// **Errors**
///
/// - `sessionEnded`: the session of the call has ended, or none has begun.
/// - `tokenRefresh`: the closure threw an error, which is the underlying error.
/// - `timeout.tokenRefresh`: a refresh took too long, even if it ignores its cancellation.
/// - `excessiveRefresh`: the limit on refreshes was reached.
/// - `timeout.total`: the call's deadline passed before it had a token.
/// - `invalidRequest.headerValue` and `invalidRequest.credential`: the token cannot be sent, as with
///   `AccessTokenPlugin`, or the request would go over http to another machine, which is checked before any refresh.
///
/// All except `invalidRequest` contain the 401, if there was one. Cancellation and all other failures pass through
/// unchanged.
///
/// **Secrets**: the header field is marked as secret and removed when a redirect leaves the origin. Errors and
/// descriptions of the plugin never show a token.
///
/// Source: RFC 6750 §2.1 and §3.1, https://www.rfc-editor.org/rfc/rfc6750.html#section-3.1, RFC 6749 §6,
/// https://www.rfc-editor.org/rfc/rfc6749.html#section-6
public struct TokenRefreshPlugin<Credential: TokenCredential>: Stage.Intercept, SafelyDescribed {
    private let refresher: TokenRefresher<Credential>
    private let scope: CredentialScope
    private let cleartext: CleartextPolicy

    /// The name of the plugin, `TokenRefreshPlugin`.
    public var name: String { "TokenRefreshPlugin" }

    /// The name of the plugin, which reveals no token.
    public var description: String { name }

    /// Makes a plugin for users who log in: without a credential, calls fail with `sessionEnded` unless the policy
    /// sends them.
    ///
    /// - Parameters:
    ///   - credential: the credential stored by an earlier run of the application; `nil` if no user is logged in.
    ///   - policy: when the credential is refreshed, and how often.
    ///   - scope: the requests that may carry the token; defaults to those to the endpoint's own origin.
    ///   - cleartext: where a token may be sent over http.
    ///   - onChange: stores each new credential, `nil` at the end of a session. It must not wait for the caller of
    ///     `setCredential` whose change it receives.
    ///   - refresh: returns a new credential for the current one, or `nil` if the server refused to renew it, which
    ///     ends the session. If it throws, the current credential remains. Its context is that of the call that started
    ///     the refresh.
    public init(
        credential: Credential?,
        policy: TokenRefreshPolicy = TokenRefreshPolicy(),
        scope: CredentialScope = .endpoint,
        cleartext: CleartextPolicy = .loopbackOnly,
        onChange: (@Sendable (Credential?, TokenCredentialChange) async -> Void)? = nil,
        refresh: @escaping @Sendable (Credential, PipelineContext) async throws -> Credential?
    ) {
        self.scope = scope
        self.cleartext = cleartext
        refresher = TokenRefresher(
            credential: credential,
            obtainsCredential: false,
            policy: policy,
            onChange: onChange
        ) { expired, context in
            guard let expired else { return nil }
            return try await refresh(expired, context)
        }
    }

    /// Makes a plugin for a client that logs in without a user: without a credential, a request waits for one.
    ///
    /// - Parameters:
    ///   - policy: when the credential is refreshed, and how often.
    ///   - scope: the requests that may carry the token; defaults to those to the endpoint's own origin.
    ///   - cleartext: where a token may be sent over http.
    ///   - onChange: stores each new credential, `nil` at the end of a session. It must not wait for the caller of
    ///     `setCredential` whose change it receives.
    ///   - obtain: returns a new credential for the current one, or the first one for `nil`. If it throws, the current
    ///     credential remains. If it returns `nil`, the waiting calls fail with `sessionEnded`, and the next call asks
    ///     again. Its context is that of the call that started the refresh.
    public init(
        policy: TokenRefreshPolicy = TokenRefreshPolicy(),
        scope: CredentialScope = .endpoint,
        cleartext: CleartextPolicy = .loopbackOnly,
        onChange: (@Sendable (Credential?, TokenCredentialChange) async -> Void)? = nil,
        obtain: @escaping @Sendable (Credential?, PipelineContext) async throws -> Credential?
    ) {
        self.scope = scope
        self.cleartext = cleartext
        refresher = TokenRefresher(
            credential: nil,
            obtainsCredential: true,
            policy: policy,
            onChange: onChange,
            refresh: obtain
        )
    }

    /// The current credential; `nil` if there is none.
    public var credential: Credential? { refresher.credential }

    /// A change of the credential.
    public struct Change: Sendable {
        /// The credential from now on; `nil` if there is none.
        public let credential: Credential?
        /// Why it changed; `nil` for the credential that was there when the reader began.
        public let reason: TokenCredentialChange?
    }

    /// The current credential and each later change, for a login screen or a store of your own.
    ///
    /// ```swift
    /// for await change in tokens.changes { session.isLoggedIn = change.credential != nil }
    /// ```
    ///
    /// Each reader gets the current credential first. A slow reader gets the newest change and misses those before it.
    /// No call waits for a reader; a store that must have each change is `onChange`. The sequence ends when the last
    /// copy of the plugin is gone.
    public var changes: AsyncStream<Change> { refresher.changes }

    /// The number of calls that wait for a refresh, for tests and dashboards.
    public var waitingCount: Int { refresher.waitingCount }

    /// Sets the credential after a login, or removes it with `nil` after a logout, for all copies of the plugin.
    ///
    /// The change takes effect at once. The method returns when `onChange` has returned for it, so the credential is
    /// stored by then. It returns earlier if its task is cancelled, or if `onChange` has not returned for an earlier
    /// change; the change is still reported.
    ///
    /// - Parameters:
    ///   - credential: the credential after a login, `nil` to end the session.
    ///   - continuesSession: whether the credential belongs to the user who is logged in, for example after a change of
    ///     the password, so that calls of the current session may use it. By default it begins a new session, and the
    ///     calls of the current one fail with `sessionEnded`. Ignored without a session.
    public func setCredential(_ credential: Credential?, continuesSession: Bool = false) async {
        await refresher.set(credential, continuesSession: continuesSession)
    }

    /// Sends the request with the token, and a second time with a new token if the first is refused.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        if refresher.isWorkingHere {
            let response = try await next(request)
            refresher.note(response)
            return response
        }
        guard let target = context.target as? any AccessTokenAuthorizable, let type = target.authorizationType,
            !context.options.isTokenRequest, scope.contains(request, context)
        else { return try await next(request) }
        try cleartext.check(request, carrying: "an access token")
        let ticket = try await ticket(refresher.begin(patience(context), context), context)
        guard let ticket else { return try await next(request) }
        refresher.note(ticket, context)
        var authorized = request
        try authorized.setAccessToken(ticket.credential.accessToken, type)
        var response = try await next(authorized)
        guard isRefusal(response, of: authorized, context) else { return response }
        let admission = refresher.refuse(ticket, request.body.isReplayable ? patience(context) : .none, context)
        if case .giveBack = admission { return response }
        context.update(HasRefreshed.self) { $0 = true }
        await response.discardBody(context, within: context.remainingTime)
        guard let ticket = try await self.ticket(admission, context, response) else { return response }
        refresher.note(ticket, context)
        try authorized.setAccessToken(ticket.credential.accessToken, type)
        return try await next(authorized)
    }

    private func patience(_ context: PipelineContext) -> TokenRefreshState<Credential>.Patience {
        if let remainingTime = context.remainingTime, remainingTime <= .zero { return .none }
        return context[HasRefreshed.self] ? .join : .start
    }

    /// Returns whether a response refuses the token of this request; a redirect to another origin removes the token.
    private func isRefusal(
        _ response: PipelineResponse,
        of authorized: PipelineRequest,
        _ context: PipelineContext
    ) -> Bool {
        response.request.headers[values: .authorization] == authorized.headers[values: .authorization]
            && context.endpoint.hasOrigin(of: response.request) && refresher.policy.isUnauthorized(response)
    }

    /// Returns the ticket for the call, after waiting for it if necessary; `nil` if the call continues without one.
    private func ticket(
        _ admission: TokenRefreshState<Credential>.Admission,
        _ context: PipelineContext,
        _ refused: PipelineResponse? = nil
    ) async throws -> TokenRefreshState<Credential>.Ticket? {
        let outcome: TokenRefreshState<Credential>.Outcome
        switch admission {
        case .giveBack: return nil
        case .proceed(let known): outcome = known
        case .wait(let waiter):
            context.update(HasRefreshed.self) { $0 = true }
            outcome = await context.recordSpan("token refresh", as: .wait) { await self.outcome(of: waiter, context) }
        }
        switch outcome {
        case .success(let ticket): return ticket
        case .failure(let failure):
            if case .sessionEnded(let shared, _) = failure { context.share(shared) }
            throw failure.error(refresher.policy, response: refused)
        }
    }

    /// Waits for the refresh, but not beyond the call's deadline.
    private func outcome(
        of waiter: TokenRefreshState<Credential>.Waiter,
        _ context: PipelineContext
    ) async -> TokenRefreshState<Credential>.Outcome {
        guard let deadline = context.latestDeadline else { return await refresher.outcome(of: waiter) }
        do {
            let timeout = PipelineError(.timeout(.total), "the deadline has passed")
            return try await context.clock.run(until: deadline, throwing: timeout) {
                await refresher.outcome(of: waiter)
            }
        } catch {
            // If the deadline had already passed, the work did not begin, and the call is still among those that wait.
            refresher.leave(waiter)
            return .failure(error is CancellationError ? .cancelled : .deadline)
        }
    }
}

/// Whether the call has waited for a refresh or was sent a second time because of one.
private enum HasRefreshed: PipelineContext.Key {
    static let defaultValue = false
}

extension PipelineContext {
    /// The time until the deadline; `nil` without one.
    fileprivate var remainingTime: Duration? {
        latestDeadline.map { clock.now.duration(to: $0) }
    }
}

extension TokenRefreshPlugin: OptionHandling {
    /// The only option that the plugin handles is `authorized`.
    public var handledOptions: [RequestOptions.PluginOption] { [.authorized] }
}

extension TokenRefreshPlugin: CapabilityDeclaring {
    /// The plugin declares `PluginCapability.setsCredential`, `.setsAccessToken` and `.answersChallenges`.
    public var capabilities: Set<PluginCapability> {
        scope.capabilities.union([.setsCredential, .setsAccessToken, .answersChallenges])
    }
}

extension TokenRefreshPlugin: SignOutHandling {
    /// Removes the credential, as `setCredential(nil)` does.
    public func signOut() async { await setCredential(nil) }
}
