import HTTPTypes
public import PipelineCore
import Synchronization

/// A plugin that keeps the cookies that servers set, and sends them back.
///
/// ```swift
/// CookiePlugin()
/// CookiePlugin(store: FileCookieStore(file))
/// CookiePlugin(store: store, account: { target in try tenant(of: target) })
/// ```
///
/// **Effects**
///
/// - Sends the cookies of the jar that match the request, on each attempt and each redirect. Cookies that a target has
///   set come first; a cookie of the jar with the name of one of these is left out.
/// - Sends at most 8190 bytes of cookies with a request; those with the shortest paths are left out first.
/// - Stores the cookies of each response, including redirects, responses whose status the target does not accept, and
///   those in place of which ``CachePlugin`` has returned a stored one.
/// - Sends a cookie with `SameSite=Strict` only to the site of the call's first request, and one with `Lax`, or without
///   a value, also to other sites if the method is safe.
/// - Does not touch stored responses.
/// - ``signOut()`` ends the session. If a call that began in it has another exchange to make, as for a retry or a
///   redirect, the call fails with `sessionEnded`. Its responses change no cookies, and no call of a later session
///   shares them.
/// - Records when a cookie was last used only if the response sets cookies, so that most calls only read the store.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `store` | a ``MemoryCookieStore`` of its own |
/// | `rules` | 180 cookies with 64 KiB per registrable domain, 3000 with 1 MiB in total, and the public suffixes of the system, see ``CookieRules`` |
/// | `account` | one account for all calls |
///
/// **Position**
///
/// - Outside a cache, which must not store cookies, and outside a plugin that signs the field Cookie.
/// - Inside `CredentialsPlugin`, which retries a request within its hop. Outside it, the cookies of the 401 are lost.
/// - Only once in a stack, and inside plugins that change the host of a request.
/// - Outside a plugin that shares responses. Calls of different accounts and sessions share none.
///
/// **Errors**
///
/// - `cookies.unreadable`: the store cannot be read; nothing was sent. The underlying error has the reason.
/// - `sessionEnded`: the user has signed out since the call began.
/// - If the store cannot be written, the call continues, and `onWriteFailure` gets the error. The first failure, and
///   then at most one an hour, is logged as a warning.
/// - An error that `account` throws becomes the underlying error of a failure with code `plugin`.
///
/// **Secrets**: the field Cookie is a secret of the request. A redirect gets the cookies of its own host only.
///
/// Source: RFC 6265bis §5, https://www.rfc-editor.org/info/draft-ietf-httpbis-rfc6265bis
public final class CookiePlugin: Stage.Prepare, Stage.Exchange {
    /// The store that the plugin reads and writes.
    public let store: any CookieStore
    private let rules: CookieRules
    private let account: (@Sendable (any TargetType) async throws -> String)?
    private let onWriteFailure: @Sendable (any Error) -> Void
    let warnings = StoreWarnings("the store of a CookiePlugin cannot be written, so new cookies may be lost")
    private let signOutCount = Atomic(0)

    /// Creates a plugin.
    ///
    /// - Parameters:
    ///   - store: keeps the cookies.
    ///   - rules: what a jar accepts.
    ///   - account: returns the account of a call, such as the identifier of a tenant. It runs once per call, before
    ///     anything is sent. Defaults to one account, the empty string, for all calls.
    ///   - onWriteFailure: gets the error if the cookies of a response cannot be stored.
    public init(
        store: any CookieStore = MemoryCookieStore(),
        rules: CookieRules = CookieRules(),
        account: (@Sendable (_ target: any TargetType) async throws -> String)? = nil,
        onWriteFailure: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        self.store = store
        self.rules = rules
        self.account = account
        self.onWriteFailure = onWriteFailure
    }

    /// Records the session of the call, and its account if the plugin has several.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        let session = context.update(CookieSessions.self) { sessions in
            let session = sessions[ObjectIdentifier(self)] ?? signOutCount.load(ordering: .acquiring)
            sessions[ObjectIdentifier(self)] = session
            return session
        }
        if session > 0 || account == nil { context.addIdentity(Self.identity(session)) }
        guard let account, context.account(of: self) == nil else { return }
        context.setAccount(try await account(context.target), of: self, in: .cookie)
    }

    /// Sends the request with its cookies, and stores those of the response.
    public func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        // Without a name, the account of the call is unknown.
        guard let account = account == nil ? "" : context.account(of: self),
            let described = describe(request, context)
        else { return try await send(request) }
        let start = context[CookieSessions.self][ObjectIdentifier(self)] ?? signOutCount.load(ordering: .acquiring)
        try checkSession(start)
        // The call keeps this closure, which must therefore not keep the call.
        let (authority, clock, log) = (request.origin.authority, context.clock, context.operatorLog)
        let receive: @Sendable (PipelineResponse) async -> Void = { response in
            let fields = response.headers[values: .setCookie]
            // A plugin inside may have changed the host.
            guard !fields.isEmpty, response.request.origin.authority == authority else { return }
            await self.keep(fields, described, account, clock, log, session: start)
        }
        context.observe(Stage.UnseenResponse.self, by: self) { unseen, _ in await receive(unseen.response) }
        let sent = try await withCookies(request, described, account, context)
        // The store may have been slow.
        try checkSession(start)
        if self.account == nil, !request.headers.contains(.cookie), let cookies = sent.headers[.cookie] {
            // A plugin outside may then share or store the response within the session.
            context.addIdentity(Self.identity(start), ofValue: cookies, in: .cookie)
        }
        let response = try await send(sent)
        let isNew = response.source == .network || response.cacheStatus?.kind == .revalidated
        if isNew { await receive(response) }
        return response
    }

    private static func identity(_ session: Int) -> String { "CookiePlugin session \(session)" }

    /// Checks that the user of the call has not signed out since it began.
    private func checkSession(_ start: Int) throws {
        guard signOutCount.load(ordering: .acquiring) != start else { return }
        throw PipelineError(.sessionEnded, "the user has signed out since the call began; nothing more is sent for it")
    }

    private func describe(_ request: PipelineRequest, _ context: PipelineContext) -> CookieJar.Request? {
        let origin = request.origin
        let first = context.update(FirstOrigins.self) { origins in
            if context.hop == 0 { origins[context.attempt] = origin }
            return origins[context.attempt]
        }
        return CookieJar.Request(
            scheme: origin.scheme,
            authority: origin.authority,
            path: request.path,
            method: request.method,
            firstScheme: first?.scheme,
            firstAuthority: first?.authority
        )
    }

    private func withCookies(
        _ request: PipelineRequest,
        _ described: CookieJar.Request,
        _ account: String,
        _ context: PipelineContext
    ) async throws -> PipelineRequest {
        let jar: CookieJar
        do {
            jar = try await store.jar(account: account)
        } catch {
            if Task.isCancelled { throw CancellationError() }
            throw PipelineError(.unreadableCookies, "the cookies cannot be read", underlyingError: error)
        }
        var cookies = jar.cookies(for: described, rules: rules, at: context.clock.date)
        guard !cookies.isEmpty else { return request }
        let own = request.headers[.cookie]
        if let own {
            let names = Set(own.split(separator: ";").map { $0.drop { $0 == " " }.prefix { $0 != "=" } })
            cookies.removeAll { names.contains($0.name[...]) }
        }
        let parts = [own, cookies.fieldValue].compactMap(\.self)
        guard !cookies.isEmpty else { return request }
        var request = request
        try request.setHeader(parts.joined(separator: "; "), for: .cookie, isSecret: true)
        return request
    }

    private func keep(
        _ fields: [String],
        _ described: CookieJar.Request,
        _ account: String,
        _ clock: PipelineClock,
        _ log: PipelineContext.OperatorLog,
        session: Int
    ) async {
        let now = clock.date
        guard signOutCount.load(ordering: .acquiring) == session else { return }
        do {
            try await store.update(account: account) { [rules, self] jar in
                // The update may have waited while the user signed out.
                guard signOutCount.load(ordering: .acquiring) == session else { return }
                jar.store(fields, from: described, rules: rules, at: now)
            }
        } catch {
            guard !(error is CancellationError) else { return }
            onWriteFailure(error)
            warnings.log(error, at: clock.now, to: log)
        }
    }
}

/// The sessions of the call, by plugin: how often the user had signed out when the call began.
private enum CookieSessions: PipelineContext.Key {
    static let defaultValue: [ObjectIdentifier: Int] = [:]
    static let isInherited = true
}

/// The origins of the first requests of a call's attempts, by attempt.
private enum FirstOrigins: PipelineContext.Key {
    static let defaultValue: [Int: PipelineRequest.Origin] = [:]
    static let isInherited = true
}

extension PipelineError.Code {
    /// A cookie store cannot be read; nothing was sent.
    public static let unreadableCookies = Self(rawValue: "cookies.unreadable")
}

extension PluginCapability {
    /// The plugin sends the cookies that servers set.
    public static let keepsCookies = Self("keeps cookies")
}

extension CookiePlugin: SignOutHandling {
    /// Removes the cookies of all accounts; those that calls in progress bring are not stored.
    ///
    /// - Throws: the error of the store.
    public func signOut() async throws {
        signOutCount.add(1, ordering: .acquiringAndReleasing)
        try await store.remove(account: nil)
    }
}

extension CookiePlugin: CapabilityDeclaring {
    /// The capabilities `keepsCookies` and `PluginCapability.identifiesCalls`; with several accounts also
    /// `PluginCapability.setsCredential`.
    public var capabilities: Set<PluginCapability> {
        account == nil ? [.keepsCookies, .identifiesCalls] : [.keepsCookies, .setsCredential, .identifiesCalls]
    }

    /// Cookies belong outside a cache and outside signatures, and only once in a stack.
    public var orderRules: [OrderRule] {
        [
            OrderRule(
                "cookies-inside-cache",
                [.keepsCookies],
                .inside,
                [.caches],
                consequence: "responses from the cache depend on cookies that the cache does not see"
            ),
            OrderRule(
                "cookies-inside-signature",
                [.keepsCookies],
                .inside,
                [.signs],
                consequence: "the signature does not cover the field Cookie",
                severity: .hint
            ),
            OrderRule(
                "cookies-twice",
                [.keepsCookies],
                .inside,
                [.keepsCookies],
                consequence: "each of the two sends and stores cookies",
                remedy: "remove one of the two"
            ),
        ]
    }
}
