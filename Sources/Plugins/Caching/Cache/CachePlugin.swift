import Foundation
import HTTPTypes
public import PipelineCore
import Synchronization

/// A plugin that stores responses and reuses them by the rules of HTTP caching.
///
/// ```swift
/// CachePlugin()
/// CachePlugin(store: DiskCacheStore(caches.appending(path: "HTTP")))
/// CachePlugin(store: store, rules: .shared)
/// CachePlugin(account: { target in try tenant(of: target) })
/// ```
///
/// **Effects**
///
/// - Stores responses to GET and QUERY as far as RFC 9111 permits, and reuses them while they are fresh. A response
///   without an explicit lifetime is fresh for a tenth of the time from Last-Modified to Date, at most a day.
/// - Validates a stale response with its ETag or Last-Modified. With `stale-while-revalidate`, responds with the stale
///   response and revalidates it in the background. With `stale-if-error`, responds with it if the origin fails.
/// - Responds to conditional requests and to requests for one range from the store.
/// - If the download of a response with a strong ETag was interrupted, requests only the rest the next time.
/// - Removes the stored responses of a URL after a 2xx or 3xx response to an unsafe request, such as POST. If the store
///   cannot remove them within 1 s, the plugin retries in the background until it has, for an hour at most; if the
///   process ends before, they stay. A response to a request that began before the removal is not stored, also if
///   another process that shares the store has removed them, unless the store has no generations
///   (``CacheStore/lookUp(_:)``).
/// - Removes a stored response whose body `GzipPlugin` cannot decode, so that the next call contacts the origin.
/// - Stores bodies while the caller reads them, in any content coding. Never stores Set-Cookie.
/// - Adds a line to the field Cache-Status of each response. `response.cacheStatus` is its value.
/// - If the transport decodes bodies, stores them decoded, and neither stores nor combines partial responses.
///
/// If the store fails, the call continues without it. The first failure of a store that is not in memory, and then at
/// most one an hour, is logged as a warning without secrets. A lookup and each piece of a body may take 1 s, including
/// the wait for earlier work of the store; a lookup of a call that must not ask the server may take as long as the
/// call. A call fails only if it reads a stored body as a stream, into a file or with progress, and that body becomes
/// unreadable after its first piece.
///
/// **Accounts**
///
/// With private rules, two accounts do not share a response. Without `account`, the key of a response includes the
/// identities that other plugins have added, and the values of Authorization, Proxy-Authorization, Cookie, of fields
/// marked as secret, and of fields whose names have a word for an account, such as X-User or X-Tenant-ID. A new token
/// therefore begins with an empty cache. Requests with Digest, whose credential differs each time, bypass the cache. If
/// a plugin inside sets such a field, or any other that may name an account, the response is stored only if that plugin
/// has added an identity of the field; see `PipelineContext.addIdentity(_:of:)`. Fields of the message and of the
/// exchange, such as Accept-Language, Content-Type, User-Agent, X-Request-ID and traceparent, name none. If a plugin
/// inside changes the URL, no response is stored.
///
/// With `account`, the key includes only the identities, one of which is the account. With shared rules, credentials
/// are not part of the key, because a response to one is stored only if it is public.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `store` | a new ``MemoryCacheStore``, up to 64 MiB |
/// | `rules` | ``CacheRules/private`` |
/// | `account` | none: credentials and other fields distinguish accounts |
///
/// **Position**
///
/// - Inside ``CookiePlugin``, and inside plugins that set credentials in ``/Pipeline/Stage/Exchange``. A response whose
///   Vary names another field that a plugin inside has set is not stored.
/// - Outside a plugin that signs requests.
/// - At most once in a stack.
/// - With ``StaleFallbackPlugin`` outside `RetryPlugin`, to use a stale response only after all retries failed.
/// - With `account`, outside `DeduplicationPlugin`, which otherwise does not compare the account.
///
/// **Errors**
///
/// - `cache.unreadable`: a stored body became unreadable within a stream. The plugin has removed the response, so
///   another call gets the response of the origin.
/// - `plugin`: `account` has thrown the underlying error.
///
/// **Secrets**: a store contains responses as plain text, but no field of a request. URLs, accounts and the request
/// fields that Vary names are stored as hashes, keyed with a secret of the store.
///
/// Source: RFC 9111, https://www.rfc-editor.org/rfc/rfc9111.html, RFC 5861,
/// https://www.rfc-editor.org/rfc/rfc5861.html, RFC 9211, https://www.rfc-editor.org/rfc/rfc9211.html
public final class CachePlugin: Stage.Prepare, Stage.Exchange {
    /// The store of the responses.
    public let store: any CacheStore
    let rules: CacheRules
    let account: (@Sendable (any TargetType) async throws -> String)?
    let onStoreFailure: @Sendable (any Error) -> Void
    let invalidations = Invalidations()
    private let storeWork = StoreWork()
    /// Counted apart, so that no change is refused because lookups are late.
    let removalWork = StoreWork()
    let warnings = StoreWarnings("the store of a CachePlugin fails, so calls continue without it")
    private let hash = Mutex<(value: CacheHash, date: Date)?>(nil)

    /// Creates a plugin with a store, rules, and a way to distinguish accounts.
    ///
    /// - Parameters:
    ///   - store: keeps the responses; defaults to memory.
    ///   - rules: decide which responses are stored and reused; default to those for a single user.
    ///   - account: returns the account of a call, such as the identifier of a user. It runs once per call, before
    ///     anything is sent. If it is `nil`, credentials distinguish accounts.
    ///   - onStoreFailure: gets the error if the store fails or takes too long, also in the background. The call
    ///     continues without the store.
    public init(
        store: any CacheStore = MemoryCacheStore(),
        rules: CacheRules = .private,
        account: (@Sendable (_ target: any TargetType) async throws -> String)? = nil,
        onStoreFailure: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        self.store = store
        self.rules = rules
        self.account = account
        self.onStoreFailure = onStoreFailure
    }

    /// Adds the account to the identities of the call; does nothing without `account`.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        guard let account, context.account(of: self) == nil else { return }
        context.setAccount(try await account(context.target), of: self)
    }

    /// Responds from the store, or sends the request and stores its response.
    public func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        try await CachedExchange(self, request, context, send).run()
    }

    // MARK: Store

    /// Returns the keyed hash of the store; `nil` if the store fails.
    func storeHash(_ context: PipelineContext, _ lookup: StoreOperation = .lookup) async -> CacheHash? {
        let now = context.clock.date
        if let known = knownHash(at: now) { return known }
        return await limited(context, lookup) { try await self.hash(at: now) }
    }

    /// Returns the keyed hash of the store for work that is limited already.
    func hash(at now: Date) async throws -> CacheHash? {
        if let known = knownHash(at: now) { return known }
        guard let made = CacheHash(secret: try await store.secret()) else { return nil }
        hash.withLock { $0 = (made, now) }
        return made
    }

    private func knownHash(at now: Date) -> CacheHash? {
        guard let known = hash.withLock({ $0 }) else { return nil }
        // A store of several machines may lose its secret, and all must then use the new one.
        return store.returnsAtOnce || abs(now.timeIntervalSince(known.date)) < 60 ? known.value : nil
    }

    /// Returns the account that a request belongs to, as a text to be hashed.
    func accountText(of request: PipelineRequest, _ context: PipelineContext) -> String {
        var parts = context.identities
        guard account == nil else { return Self.joined(parts) }
        for field in request.headers {
            let counts =
                AccountFields.isCredential(field.name, of: request)
                ? !rules.isShared : AccountFields.namesAccount(field.name)
            guard counts else { continue }
            parts.append("\(field.name.canonicalName): \(field.value)")
        }
        return Self.joined(parts)
    }

    /// Whether a request has another credential each time (RFC 7616 §3.4), so that no response would be found again.
    func changesCredential(of request: PipelineRequest) -> Bool {
        guard account == nil, rules.audience == .private else { return false }
        return [HTTPField.Name.authorization, .proxyAuthorization].contains { name in
            request.headers.first(name)?.prefix(7).lowercased() == "digest "
        }
    }

    /// Joins texts so that different lists never have the same result.
    private static func joined(_ parts: [String]) -> String {
        parts.isEmpty ? "" : parts.map { "\($0.utf8.count) \($0)" }.joined(separator: " ")
    }

    /// Returns the result of work of the store; `nil` if it fails or takes too long.
    func limited<Output: Sendable>(
        _ context: PipelineContext,
        _ operation: StoreOperation,
        _ work: @escaping @Sendable () async throws -> Output?
    ) async -> Output? {
        do {
            guard !store.returnsAtOnce else { return try await work() }
            let storeWork = operation.isRemoval ? removalWork : storeWork
            guard operation.isRecorded else { return try await storeWork.run(operation, on: context.clock, work) }
            return try await context.recordSpan("cache store", as: .wait) {
                try await storeWork.run(operation, on: context.clock, work)
            }
        } catch {
            if !operation.isCancellable || !Task.isCancelled {
                report(error, at: context.clock.now, to: context.operatorLog)
            }
            return nil
        }
    }

    /// Passes on a failure of the store, and logs it unless one was logged shortly before.
    func report(_ error: any Error, at now: PipelineClock.Instant, to log: PipelineContext.OperatorLog) {
        onStoreFailure(error)
        // A store in memory fails only if a body does not fit, and some errors are about one body only.
        let code = (error as? CacheStoreError)?.code
        guard !store.returnsAtOnce, code != .tooLarge, code != .ended else { return }
        warnings.log(error, at: now, to: log)
    }
}

extension PipelineError.Code {
    /// A cache store did not respond in time; ``CachePlugin`` passes this error only to `onStoreFailure`.
    public static let cacheUnavailable = Self(rawValue: "cache.unavailable")
}

extension CachePlugin: SignOutHandling {
    /// Removes the responses of all accounts, including those that other processes keep in the same store.
    ///
    /// Responses to calls in progress are not stored, also in other processes if the store has generations.
    ///
    /// - Throws: the error of the store.
    public func signOut() async throws {
        invalidations.addAll()
        try await store.remove(account: nil)
    }

    /// Removes the responses of one account.
    ///
    /// The plugin must have been created with `account`. Responses to calls to which other plugins have added
    /// identities, such as ``CookiePlugin`` with several accounts, are not removed.
    ///
    /// - Parameter account: the account, as the closure `account` returns it.
    /// - Throws: the error of the store.
    public func remove(account: String) async throws {
        invalidations.addAll()
        guard let hash = CacheHash(secret: try await store.secret()) else { return }
        try await store.remove(account: hash(Self.joined(["\(name) \(account)"])))
    }
}

extension CachePlugin: CapabilityDeclaring {
    /// The capability `PluginCapability.caches`; with several accounts also `PluginCapability.identifiesCalls`.
    public var capabilities: Set<PluginCapability> { account == nil ? [.caches] : [.caches, .identifiesCalls] }

    /// The rules that a stack has at most one cache, and that the cache is outside plugins that sign requests.
    public var orderRules: [OrderRule] {
        [
            OrderRule(
                "cache-twice",
                [.caches],
                .inside,
                [.caches],
                consequence: "both store the same responses",
                remedy: "keep one of them"
            ),
            OrderRule(
                "cache-outside-challenge",
                [.caches],
                .outside,
                [.answersChallenges],
                except: [.identifiesCalls],
                consequence: "responses to requests with its credential are not stored"
            ),
            OrderRule(
                "cache-inside-signature",
                [.caches],
                .inside,
                [.signs],
                consequence:
                    "requests that are answered from the cache are signed in vain, and no two of them are equal"
            ),
        ] + (account == nil && rules.audience == .private ? [Self.unknownAccount] : [])
    }

    private static let unknownAccount = OrderRule(
        "cache-of-unknown-account",
        [.caches],
        .outside,
        [.setsUnknownCredential],
        except: [.answersChallenges],
        consequence: "responses to requests with its credential are not stored",
        remedy: "give it the account of each call, or the same text for all calls if there is one account"
    )
}
