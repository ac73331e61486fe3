import Foundation
import HTTPTypes
import PipelineCore

/// One run of a cache: the lookup, the exchange if one is needed, and what follows from its response.
struct CachedExchange: Sendable {
    let plugin: CachePlugin
    let request: PipelineRequest
    let context: PipelineContext
    let send: Stage.Send
    let policy: CachePolicy
    /// The URL of the request as a text to be hashed; `nil` if nothing can be stored for it.
    let resource: String?
    /// The number of invalidations when the request began.
    let start: Int
    /// The identities that are part of the key.
    let identities: [String]

    var store: any CacheStore { plugin.store }
    var rules: CacheRules { plugin.rules }

    init(_ plugin: CachePlugin, _ request: PipelineRequest, _ context: PipelineContext, _ send: Stage.Send) {
        self.plugin = plugin
        self.request = request
        self.context = context
        self.send = send
        policy = context.options.cachePolicy ?? .standard
        resource = CacheRules.resourceText(request.head)
        start = plugin.invalidations.count
        identities = context.identities
    }

    func run() async throws -> PipelineResponse {
        guard let resource else { return try await pass("bypass") }
        switch request.method {
        case .get where request.body.bytes == nil: return try await pass("bypass")
        case .get, .head: break
        case .query where request.body.bytes != nil: break
        default: return try await change()
        }
        if policy == .noStore { return try await pass("bypass") }
        if plugin.changesCredential(of: request) { return try await pass("digest") }
        guard let hash = await plugin.storeHash(context, lookupOperation) else {
            return try await pass("store-unavailable")
        }
        let key = CacheKey(
            resource: hash(resource),
            account: hash(plugin.accountText(of: request, context)),
            content: contentText.map { hash($0) } ?? ""
        )
        guard await plugin.removePending(resource, .lookup, context) else { return try await pass("store-unavailable") }
        let found = await plugin.limited(context, lookupOperation) { try await lookUp(key, hash) }
        guard let lookup = found else { return try await pass("store-unavailable") }
        return try await use(lookup)
    }

    /// Reads what is stored for a request, and opens the body that the response will have.
    ///
    /// Another call may replace an entry before its body is open: the entries are then read a second time.
    private func lookUp(_ key: CacheKey, _ hash: CacheHash) async throws -> Lookup {
        var lookup = try await lookUpEntries(key, hash)
        if await open(&lookup) { return lookup }
        lookup = try await lookUpEntries(key, hash)
        // If this fails, `serve` tries again, and reports the failure.
        _ = await open(&lookup)
        return lookup
    }

    private func lookUpEntries(_ key: CacheKey, _ hash: CacheHash) async throws -> Lookup {
        let (stored, generation) = try await store.lookUp(key)
        let entries = stored.filter { $0.variant == variant(of: $0.headers, hash) }
        var lookup = Lookup(key: key, hash: hash, isKnown: !stored.isEmpty, entries: entries, generation: generation)
        guard let entry = entries.first else { return lookup }
        lookup.reuse = rules.reuse(entry, for: request.head, policy: policy, at: context.clock.date)
        return lookup
    }

    /// Opens the body of what was found if the response needs it; returns `false` if that fails.
    private func open(_ lookup: inout Lookup) async -> Bool {
        guard request.method != .head, lookup.reuse.isWithoutOrigin, let entry = lookup.entries.first else {
            return true
        }
        lookup.body = try? await store.body(of: entry)
        return lookup.body != nil
    }

    /// What was found for a request.
    struct Lookup: Sendable {
        let key: CacheKey
        let hash: CacheHash
        /// Whether the key has any variant.
        let isKnown: Bool
        /// The variants that the request selects, the latest first.
        let entries: [CacheEntry]
        /// What the store compares when it stores the response, because another process may have removed responses.
        let generation: Data?
        /// How the first of them is used.
        var reuse = CacheRules.Reuse.unusable(reason: "miss")
        /// The body of the first of them, if it is used without the origin.
        var body: (any CacheBodyReader)?
    }

    /// The method and content of a QUERY, whose response depends on both (RFC 10008), or the content of a GET.
    private var contentText: Data? {
        guard let bytes = request.body.bytes, request.method == .query || !bytes.isEmpty else { return nil }
        let head = [HTTPField.Name.contentType, .contentEncoding].map { request.headers[$0] ?? "" }
        return Data("\(request.method)\n\(head.joined(separator: "\n"))\n".utf8) + bytes
    }

    /// Returns the hash of the fields of this request that a response depends on; `nil` if it depends on everything.
    func variant(of headers: HTTPFields, _ hash: CacheHash) -> String? {
        guard var names = CacheRules.varyNames(headers) else { return nil }
        // Many servers that compress do not say so in Vary.
        if headers.contains(.contentEncoding), !names.contains("accept-encoding") { names.append("accept-encoding") }
        return names.isEmpty ? "" : hash(CacheRules.selectingText(names, of: request.head))
    }

    // MARK: Without the store

    /// Sends the request, and leaves its response alone.
    private func pass(_ reason: String) async throws -> PipelineResponse {
        if isOnlyIfCached { return unavailable() }
        var response = try await forward(request, reason)
        report(CacheStatus(.bypass, reason: reason, originStatus: response.statusCode), in: &response.headers)
        return response
    }

    /// Sends a request to the origin.
    func forward(_ request: PipelineRequest, _ reason: String) async throws -> PipelineResponse {
        context.cacheStatus = CacheStatus(.miss, reason: reason)
        return try await send(request)
    }

    /// Whether the resource has not changed since the request began.
    var isCurrent: Bool {
        guard let resource else { return false }
        return plugin.invalidations.isCurrent(resource, since: start)
    }

    /// Adds the line of Cache-Status, and lets other plugins know how the call was handled, and what is stored.
    func report(_ status: CacheStatus, of entry: CacheEntry? = nil, in headers: inout HTTPFields) {
        status.add(to: &headers)
        observeDamage(of: entry, headers)
        context.cacheStatus = status
    }

    /// Removes the stored response from which the latest response of the call comes, or that it becomes when its body
    /// has been read, if a plugin outside finds the body damaged.
    ///
    /// Only bodies in a content coding are observed, whose damage appears when they are decoded.
    private func observeDamage(of entry: CacheEntry?, _ headers: HTTPFields) {
        guard headers.contains(.contentEncoding) else { return }
        guard let entry else { return context.observe(Stage.DamagedBody.self, by: plugin, nil) }
        context.observe(Stage.DamagedBody.self, by: plugin) { [plugin, resource] _, context in
            await plugin.remove(entry, of: resource, context)
        }
    }

    /// Sends a request of a method whose responses are not stored; an unsafe one invalidates what is stored.
    private func change() async throws -> PipelineResponse {
        if isOnlyIfCached { return unavailable() }
        var response = try await forward(request, "method")
        if ![HTTPRequest.Method.options, .trace, .query].contains(request.method) {
            await plugin.invalidate(CacheRules.invalidated(by: response.head, to: request.head), context)
        }
        report(CacheStatus(.bypass, reason: "method", originStatus: response.statusCode), in: &response.headers)
        return response
    }

    // MARK: With the store

    private func use(_ lookup: Lookup) async throws -> PipelineResponse {
        guard let entry = lookup.entries.first else {
            return try await fetch(lookup, reason: lookup.isKnown ? "vary-miss" : "uri-miss")
        }
        switch lookup.reuse {
        case .fresh(let freshness):
            if let response = await serve(entry, freshness, .hit, body: lookup.body) { return response }
        case .staleWhileRevalidating(let freshness):
            let reason = "stale-while-revalidate"
            if let response = await serve(entry, freshness, .stale, body: lookup.body, reason: reason) {
                await revalidateInBackground(lookup)
                return response
            }
        case .stale(let freshness):
            let reason = policy == .offline ? "offline" : "max-stale"
            if let response = await serve(entry, freshness, .stale, body: lookup.body, reason: reason) {
                return response
            }
        case .validate(let freshness, let limit):
            return try await validate(lookup, freshness, staleIfErrorUntil: limit)
        case .unusable(let reason):
            return try await fetch(lookup, reason: reason)
        }
        return try await fetch(lookup, reason: entry.isComplete ? "miss" : "partial")
    }

    /// Returns a response with what is stored; `nil` if that does not suffice.
    ///
    /// Opens the body unless it is open.
    func serve(
        _ entry: CacheEntry,
        _ freshness: CacheRules.Freshness,
        _ kind: CacheStatus.Kind,
        body: (any CacheBodyReader)? = nil,
        reason: String? = nil,
        originStatus: Int? = nil
    ) async -> PipelineResponse? {
        guard var served = rules.served(entry, to: request.head, age: freshness.age) else { return nil }
        var content = PipelineBody.absent
        if let range = served.range {
            var reader = body
            if reader == nil {
                reader = await plugin.limited(context, lookupOperation) { [store] in
                    try await store.body(of: entry)
                }
            }
            guard let reader else { return nil }
            let stored = (range.lowerBound - entry.firstByte)..<(range.upperBound - entry.firstByte)
            guard let bytes = await self.body(reader, stored, of: entry) else { return nil }
            content = bytes
        }
        let timeToLive = freshness.lifetime - freshness.age
        let status = CacheStatus(kind, reason: reason, timeToLive: timeToLive, originStatus: originStatus)
        restoreTag(&served.head.headerFields, of: served.head.status, from: entry)
        report(status, of: entry, in: &served.head.headerFields)
        var response = PipelineResponse(request: request, head: served.head, body: content)
        response.source = .cache
        return response
    }

    /// Returns a range of the stored bytes as a body; `nil` if they cannot be read.
    func body(_ reader: any CacheBodyReader, _ range: Range<Int>, of entry: CacheEntry) async -> PipelineBody? {
        await StoredChunks(reader: reader, range: range, entry: entry, plugin: plugin, context: context).body()
    }

    /// Sends the request if that is allowed, and stores its response.
    func fetch(_ lookup: Lookup, reason: String) async throws -> PipelineResponse {
        if isOnlyIfCached { return unavailable() }
        if reason == "partial", let partial = lookup.entries.first, !context.transportDecodesContent,
            let rest = rules.askingForRest(request.head, of: partial)
        {
            return try await complete(partial, with: rest, lookup)
        }
        return try await exchange(lookup, reason: reason)
    }

    /// Sends the request, and stores its response.
    func exchange(_ lookup: Lookup, reason: String) async throws -> PipelineResponse {
        let sent = context.clock.date
        let response = try await forward(request, reason)
        return await receive(response, lookup, sentAt: sent, reason: reason)
    }

    /// How the call waits for what is stored.
    private var lookupOperation: StoreOperation {
        isOnlyIfCached && context[Stage.StaleUse.self] != .required ? .onlyLookup : .lookup
    }

    var isOnlyIfCached: Bool {
        policy == .onlyIfCached || policy == .offline || context[Stage.StaleUse.self] == .required
            || CacheRules.directives(of: request.head.headerFields).onlyIfCached
    }

    /// The response if none is stored and the origin must not be asked (RFC 9111 §5.2.1.7).
    private func unavailable() -> PipelineResponse {
        var response = PipelineResponse(request: request, statusCode: 504)
        response.source = .cache
        report(CacheStatus(.bypass, reason: "only-if-cached"), in: &response.headers)
        return response
    }

    // MARK: Errors

    /// Returns a stale response in place of a failure, if that is allowed; `nil` if not.
    func fallback(
        to entry: CacheEntry,
        _ freshness: CacheRules.Freshness,
        until limit: Int?,
        inPlaceOf response: PipelineResponse? = nil
    ) async -> PipelineResponse? {
        guard let limit, freshness.staleness <= limit, !Task.isCancelled else { return nil }
        let isDelayed = context.update(Stage.StaleUse.self) { state in
            if state == .afterRetries { state = .available }
            return state == .available
        }
        if isDelayed { return nil }
        let status = response?.statusCode
        let stale = await serve(entry, freshness, .stale, reason: CacheStatus.staleIfError, originStatus: status)
        if stale != nil, let response { await drop(response) }
        return stale
    }
}
