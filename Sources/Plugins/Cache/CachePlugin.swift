import Foundation
import HTTPTypes
public import Pipeline
public import PipelineStores
import Synchronization

/// A plugin that stores responses and reuses them as HTTP defines.
///
/// ```swift
/// CachePlugin()
/// CachePlugin(store: DiskCacheStore(.cachesDirectory.appending(path: "HTTP")))
/// CachePlugin(store: store, rules: .shared)
/// CachePlugin(account: { target in try tenant(of: target) })
/// ```
///
/// **Effects**
///
/// - Stores responses to GET and QUERY as far as RFC 9111 allows, and reuses them as long as they are fresh. A response
///   without an explicit lifetime is fresh for a tenth of its age when it was sent, at most a day.
/// - Revalidates a stale response with its ETag or Last-Modified. With `stale-while-revalidate`, it responds with the
///   stale response and revalidates in the background; with `stale-if-error`, it does so if the origin fails.
/// - Responds to conditional requests and to requests for one range from what is stored. If a download of a response
///   with a strong ETag was interrupted, the next one asks for the rest only.
/// - Removes the responses of a URL after a successful unsafe request to it, such as POST.
/// - Passes bodies on as they arrive, in any content coding. Set-Cookie is never stored.
/// - Adds a line to the field Cache-Status of each response. `response.cacheStatus` has the same as a value.
/// - A call never fails because its store does: a lookup may take 100 ms, a write 1 s. After that, the call goes on
///   without the store. The exception is a stored body that becomes unreadable while it is read.
/// - If the transport decodes bodies, they are stored decoded, and ranges are neither stored nor combined.
///
/// **Accounts**
///
/// No two accounts share a response. Without `account`, what distinguishes accounts are the identities that other
/// plugins have added and, with private rules, the values of Authorization, Proxy-Authorization, Cookie and of fields
/// that are marked as secret. A new token therefore begins with an empty cache. With `account`, only the identities
/// count, including this account.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `store` | a ``/PipelineStores/MemoryCacheStore`` of its own, up to 64 MiB |
/// | `rules` | ``CacheRules/private`` |
/// | `account` | none |
///
/// **Position**
///
/// - Inside ``CookiePlugin``, and inside plugins that set credentials in ``/Pipeline/Stage/Exchange``.
/// - Outside a plugin that signs requests.
/// - Only once in a stack. With ``StaleFallbackPlugin``, a stale response is used only after all retries have failed.
/// - With ``DeduplicationPlugin`` outside, equal calls that begin before the first response share one exchange.
///
/// **Errors**
///
/// - `cache.unreadable`: a stored body became unreadable while it was read. The entry has been removed.
/// - An error that `account` throws becomes the underlying error of a failure with code `plugin`.
///
/// **Secrets**: stores contain responses as they are, but no field of a request. URLs, accounts and the values that
/// Vary selects by are hashed with a secret of the store.
///
/// Source: RFC 9111, https://www.rfc-editor.org/rfc/rfc9111.html, RFC 5861,
/// https://www.rfc-editor.org/rfc/rfc5861.html, RFC 9211, https://www.rfc-editor.org/rfc/rfc9211.html
public final class CachePlugin: Stage.Prepare, Stage.Exchange {
    /// The store that the plugin reads and writes.
    public let store: any CacheStore
    let rules: CacheRules
    private let account: (@Sendable (any TargetType) async throws -> String)?
    private let onStoreFailure: @Sendable (any Error) -> Void
    let invalidations = Invalidations()
    private let hash = Mutex<(value: CacheHash, date: Date)?>(nil)

    /// Creates a plugin.
    ///
    /// - Parameters:
    ///   - store: keeps the responses.
    ///   - rules: what is stored and reused.
    ///   - account: returns the account of a call, such as the identifier of a user. It runs once per call, before
    ///     anything is sent. Defaults to none: credentials distinguish accounts.
    ///   - onStoreFailure: gets the error if the store fails or takes too long.
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

    /// Records the account of the call, if the plugin has several.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        guard let account else { return }
        try await CallAccounts.record(for: self, in: context, account)
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
    func storeHash(_ context: PipelineContext) async -> CacheHash? {
        let known = hash.withLock { $0 }
        let now = context.clock.date
        // A store of several machines may lose its secret, and all must then use the new one.
        if let known, store.returnsAtOnce || abs(now.timeIntervalSince(known.date)) < 60 { return known.value }
        let secret = await limited(context, to: Self.lookupLimit) { [store] in try await store.secret() }
        guard let made = secret.flatMap({ CacheHash(secret: $0) }) else { return nil }
        hash.withLock { $0 = (made, now) }
        return made
    }

    /// Returns the account that a request belongs to, as a text to be hashed.
    func accountText(of request: PipelineRequest, _ context: PipelineContext) -> String {
        var parts = context.identities
        guard account == nil, rules.audience == .private else { return Self.joined(parts) }
        for field in request.headers where Self.isCredential(field.name, of: request) {
            parts.append("\(field.name.canonicalName): \(field.value)")
        }
        return Self.joined(parts)
    }

    /// Joins texts so that different lists never have the same result.
    private static func joined(_ parts: [String]) -> String {
        parts.isEmpty ? "" : parts.map { "\($0.utf8.count) \($0)" }.joined(separator: " ")
    }

    static func isCredential(_ name: HTTPField.Name, of request: PipelineRequest) -> Bool {
        name == .authorization || name == .proxyAuthorization || name == .cookie || request.isSecret(name)
    }

    static let lookupLimit = Duration.milliseconds(100)
    static let writeLimit = Duration.seconds(1)

    /// Returns the result of work of the store; `nil` if it fails or takes too long.
    func limited<Output: Sendable>(
        _ context: PipelineContext,
        to limit: Duration,
        _ work: @escaping @Sendable () async throws -> Output?
    ) async -> Output? {
        do {
            guard !store.returnsAtOnce else { return try await work() }
            let clock = context.clock
            let timeout = PipelineError(
                .cacheUnavailable,
                "the cache did not respond within \(PipelineError.text(of: limit))"
            )
            return try await clock.run(until: clock.now.advanced(by: limit), throwing: timeout, work)
        } catch {
            if !Task.isCancelled { onStoreFailure(error) }
            return nil
        }
    }
}

extension PipelineError.Code {
    /// A stored body became unreadable while it was read; it is no longer stored.
    public static let unreadableCache = Self(rawValue: "cache.unreadable")
    /// A cache store did not respond in time; only `onStoreFailure` of ``CachePlugin`` gets this error.
    public static let cacheUnavailable = Self(rawValue: "cache.unavailable")
}

extension CachePlugin: SignOutHandling {
    /// Removes the responses of all accounts.
    ///
    /// - Throws: the error of the store.
    public func signOut() async throws {
        invalidations.addAll()
        try await store.remove(account: nil)
    }

    /// Removes the responses of one account, if the plugin was created with `account`.
    ///
    /// Other plugins that identify calls must not add identities of their own.
    ///
    /// - Throws: the error of the store.
    public func remove(account: String) async throws {
        invalidations.addAll()
        guard let hash = CacheHash(secret: try await store.secret()) else { return }
        try await store.remove(account: hash(Self.joined([CallAccounts.identity(account, of: self)])))
    }
}

extension CachePlugin: CapabilityDeclaring {
    /// The capability `PluginCapability.caches`; with several accounts also `PluginCapability.identifiesCalls`.
    public var capabilities: Set<PluginCapability> { account == nil ? [.caches] : [.caches, .identifiesCalls] }

    /// A cache belongs outside plugins that sign, and only once in a stack.
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
                "cache-inside-signature",
                [.caches],
                .inside,
                [.signs],
                consequence:
                    "requests that are answered from the cache are signed in vain, and no two of them are equal"
            ),
        ]
    }
}
