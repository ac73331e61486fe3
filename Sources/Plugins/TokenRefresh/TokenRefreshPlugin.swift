import HTTPTypes
public import Pipeline

/// Sends an access token and renews it, before it expires and when a server refuses it, once for all calls.
///
/// A target asks for a token by conforming to `AccessTokenAuthorizable` with a type that is not `nil`, also inside a
/// `MultiTarget`. The credential is the application's own type.
///
/// ```swift
/// let auth = Provider<AuthAPI>(transport: transport)
/// let tokens = TokenRefreshPlugin(credential: keychain.session) { expired, _ in
///     try await auth.request(.refresh(expired.refreshToken), as: Session.self)
/// }
/// let provider = Provider<ShopAPI>(transport: transport, plugins: [RetryPlugin(), tokens, DeduplicationPlugin()])
///
/// tokens.setCredential(session)  // after a log-in
/// tokens.setCredential(nil)      // after a log-out
/// ```
///
/// The refresh may also go through a provider that has the plugin: calls that are made in the closure are left alone. What is not,
/// a log-in, or a refresh that is made in a callback, says so with the option `isTokenRequest`.
///
/// **Position**: inside a plugin that retries, so that each attempt has the present token; outside it the token of the first
/// attempt is sent with every one. Inside a plugin that is told of answers with 401, which then learns only of those that a
/// refresh could not help. Outside a plugin that signs or shares requests. In the place of `AccessTokenPlugin`: of two that
/// set a token the inner one's is sent, and this plugin takes no notice when a token of another is refused.
///
/// **Effects**
///
/// - Sets Authorization to `<type> <token>`, replacing what is there. Requests of other targets, those that a plugin outside has
///   led to another origin than the endpoint's, and calls with `isTokenRequest` are untouched and wait for nothing.
/// - Refreshes before sending when the credential expires within the leeway, and when a server has refused its token. Then
///   the request is sent again, once, as an attempt of its own. A call causes one refresh at most: what is answered after it is
///   returned, also another 401.
/// - One refresh is under way at a time, also when several providers share the plugin, and calls that begin meanwhile wait for
///   it. A token that is refused after it was replaced causes none; the present one is sent.
/// - A refresh that fails fails all calls that wait, and those that were sent before it failed and are refused later. The
///   credential stays, and the next call tries again.
/// - A refresh belongs to no call: one that is cancelled stops waiting, the others go on. When none is left the refresh is
///   cancelled; no other begins before it has ended or its time is up, and what it still gives is kept.
/// - A refusal counts when the refused request had the token and went to the endpoint's origin. The body of such a response is
///   discarded, see `PipelineResponse.discardBody(_:within:)`.
/// - A request whose body cannot be sent again is not, and neither is one whose deadline has passed: its 401 is returned, and the
///   next call refreshes first.
/// - Without a credential requests are sent without a token; a plugin made with `obtain:` asks for one first. Calls that were
///   sent before a log-out are not sent again with the token of a later log-in.
/// - A credential set from outside wins over a refresh under way: it is cancelled, and those who wait go on.
///
/// It keeps one credential, the calls that wait, and the moments of the last refreshes. The clock of the first call counts.
///
/// **Defaults**: ``TokenRefreshPolicy``, and
///
/// | setting | default |
/// |---|---|
/// | `allowsCleartext` | `false`: no token leaves over http, except to the machine itself |
/// | `onRefresh` | none |
///
/// **Errors**: `tokenRefresh` with what the closure threw as the underlying error; `timeout.tokenRefresh` when it took too
/// long, also when it does not heed its cancellation; `excessiveRefresh` when as many refreshes have begun as are allowed;
/// `timeout.total` when the deadline of the call comes while it waits. They hold the 401, if there was one.
/// `invalidRequest.headerValue` and `invalidRequest.credential` for a token that cannot be sent, as `AccessTokenPlugin`, and for a
/// request over http to another machine, before anything is refreshed. Cancellation and all other failures pass through.
///
/// **Secrets**: the field is marked as secret and dropped when a redirect leaves the origin. No error and no description of the
/// plugin shows a token.
///
/// Source: RFC 6750 §2.1 and §3.1, https://www.rfc-editor.org/rfc/rfc6750.html#section-3.1,
/// RFC 6749 §6, https://www.rfc-editor.org/rfc/rfc6749.html#section-6
public struct TokenRefreshPlugin<Credential: TokenCredential>: AuthenticatingPlugin, Stage.Intercept {
    private let refresher: TokenRefresher<Credential>
    private let allowsCleartext: Bool

    /// `TokenRefreshPlugin`.
    public var name: String { "TokenRefreshPlugin" }

    /// Makes a plugin for users who log in: without a credential requests are sent without a token.
    ///
    /// - Parameters:
    ///   - credential: the credential that was kept since the last time; `nil` when nobody is logged in.
    ///   - policy: when the credential is refreshed, and how often it may be.
    ///   - allowsCleartext: whether a token may leave over http; always allowed to the machine itself.
    ///   - onRefresh: is given each new credential to keep it, before it is used; part of the refresh and its time. Not one that
    ///     comes too late, when another was set.
    ///   - refresh: gives a new credential for the present one; `nil` when the session is over. It may throw, which leaves the
    ///     present one. Its context is that of the call that began the refresh.
    public init(
        credential: Credential?,
        policy: TokenRefreshPolicy = TokenRefreshPolicy(),
        allowsCleartext: Bool = false,
        onRefresh: (@Sendable (Credential?) async -> Void)? = nil,
        refresh: @escaping @Sendable (Credential, PipelineContext) async throws -> Credential?
    ) {
        self.allowsCleartext = allowsCleartext
        refresher = TokenRefresher(
            TokenRefreshState(credential: credential, obtainsCredential: false, policy: policy),
            onRefresh: onRefresh
        ) { expired, context in
            guard let expired else { return nil }
            return try await refresh(expired, context)
        }
    }

    /// Makes a plugin for a client that logs in by itself: without a credential a request waits for one.
    ///
    /// - Parameters:
    ///   - policy: when the credential is refreshed, and how often it may be.
    ///   - allowsCleartext: whether a token may leave over http; always allowed to the machine itself.
    ///   - onRefresh: is given each new credential to keep it, before it is used; part of the refresh and its time. Not one that
    ///     comes too late, when another was set.
    ///   - obtain: gives a new credential, the first when it is given `nil`. It may throw, which leaves the present one. When it
    ///     returns `nil` those who wait are sent without. Its context is that of the call that began the refresh.
    public init(
        policy: TokenRefreshPolicy = TokenRefreshPolicy(),
        allowsCleartext: Bool = false,
        onRefresh: (@Sendable (Credential?) async -> Void)? = nil,
        obtain: @escaping @Sendable (Credential?, PipelineContext) async throws -> Credential?
    ) {
        self.allowsCleartext = allowsCleartext
        refresher = TokenRefresher(
            TokenRefreshState(credential: nil, obtainsCredential: true, policy: policy),
            onRefresh: onRefresh,
            refresh: obtain
        )
    }

    /// The present credential.
    public var credential: Credential? { refresher.credential }

    /// How many calls wait for a refresh at this moment; for tests and dashboards.
    public var waitingCount: Int { refresher.waitingCount }

    /// Sets the credential, after a log-in, or takes it away with `nil`, after a log-out.
    ///
    /// All copies of the plugin share it. `onRefresh` is not called.
    public func setCredential(_ credential: Credential?) {
        refresher.set(credential)
    }

    /// Sends the request with the token, and again with a new one when it is refused.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Next
    ) async throws -> PipelineResponse {
        guard let target = context.target as? any AccessTokenAuthorizable, let type = target.authorizationType,
            !context.options.isTokenRequest, CredentialScope.isOwnOrigin(request, context),
            !refresher.isRefreshingHere
        else { return try await next(request) }
        try CredentialScope.requireConfidential(request, allowsCleartext: allowsCleartext, "an access token")
        let ticket = try await ticket(refresher.begin(mayStart: mayStart(context), context), context)
        guard let ticket else { return try await next(request) }
        var authorized = request
        try authorized.setAccessToken(ticket.credential.accessToken, type)
        var response = try await next(authorized)
        guard isRefusal(response, of: authorized, context) else { return response }
        guard request.body.isReplayable, !context.isLate else {
            refresher.note(refusalOf: ticket)
            return response
        }
        let admission = refresher.refuse(ticket, mayStart: mayStart(context), context)
        if case .giveBack = admission { return response }
        context.update(HasRefreshed.self) { $0 = true }
        await response.discardBody(context)
        guard let ticket = try await self.ticket(admission, context, response) else { return response }
        try authorized.setAccessToken(ticket.credential.accessToken, type)
        return try await next(authorized)
    }

    private func mayStart(_ context: PipelineContext) -> Bool {
        !context[HasRefreshed.self] && !context.isLate
    }

    /// Whether the answer is to a request with this token: a redirect to another origin has lost it.
    private func isRefusal(
        _ response: PipelineResponse,
        of authorized: PipelineRequest,
        _ context: PipelineContext
    ) -> Bool {
        response.request.headers[values: .authorization] == authorized.headers[values: .authorization]
            && CredentialScope.isOwnOrigin(response.request, context) && refresher.policy.isUnauthorized(response)
    }

    /// What is sent, after the wait for it.
    private func ticket(
        _ admission: TokenRefresher<Credential>.Admission,
        _ context: PipelineContext,
        _ refused: PipelineResponse? = nil
    ) async throws -> TokenRefreshState<Credential>.Ticket? {
        switch admission {
        case .giveBack: return nil
        case .proceed(let ticket): return ticket
        case .fail(let failure): throw failure.error(refresher.policy, response: refused)
        case .wait(let waiting):
            context.update(HasRefreshed.self) { $0 = true }
            switch try await outcome(of: waiting, context, refused) {
            case .proceed(let ticket): return ticket
            case .fail(let failure): throw failure.error(refresher.policy, response: refused)
            case .cancelled: throw CancellationError()
            }
        }
    }

    /// Waits, but not after the call's deadline.
    private func outcome(
        of waiting: TokenRefresher<Credential>.Waiting,
        _ context: PipelineContext,
        _ refused: PipelineResponse?
    ) async throws -> TokenRefreshState<Credential>.Outcome {
        guard let remaining = context.remainingTime else { return await refresher.outcome(of: waiting) }
        do {
            return try await context.clock.run(within: max(remaining, .zero), phase: .total) {
                await refresher.outcome(of: waiting)
            }
        } catch is PipelineError {
            let reason = "the call's deadline came while it waited for a new access token"
            throw PipelineError(.timeout(.total), reason, response: refused)
        }
    }
}

/// Whether the call has waited for a refresh or was sent again because of one.
private enum HasRefreshed: PipelineContextKey {
    static let defaultValue = false
}

extension PipelineContext {
    /// The time to the deadline, `nil` without one.
    fileprivate var remainingTime: Duration? {
        deadline.map { clock.now.duration(to: $0) }
    }

    fileprivate var isLate: Bool { remainingTime.map { $0 <= .zero } ?? false }
}
