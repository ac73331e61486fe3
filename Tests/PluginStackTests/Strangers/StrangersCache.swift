import Foundation
import Pipeline
import Synchronization

/// A cache of another package: in memory, private, for responses to GET.
final class StrangersCache: Stage.Exchange, SignOutHandling, CapabilityDeclaring {
    private struct Key: Hashable {
        let url: String
        let account: [String]
    }

    private struct Shelf {
        var entries: [Key: StrangersEntry] = [:]
        var changeCount = 0
    }

    private let shelf = Mutex(Shelf())

    var capabilities: Set<PluginCapability> { [.caches] }

    func signOut() { shelf.withLock { $0 = Shelf(changeCount: $0.changeCount + 1) } }

    func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        guard let url = request.url?.absoluteString, request.method == .get, request.body.isAbsent,
            ![HTTPField.Name.range, .ifNoneMatch, .cacheControl].contains(where: request.headers.contains)
        else { return try await pass(request, context, send) }
        let fields = request.headers.filter {
            AccountFields.isCredential($0.name, of: request) || AccountFields.namesAccount($0.name)
                || [.accept, .acceptEncoding, .acceptLanguage].contains($0.name)
        }
        let key = Key(url: url, account: context.identities + fields.map { "\($0.name.canonicalName): \($0.value)" })
        let (entry, changeCount) = shelf.withLock { ($0.entries[key], $0.changeCount) }
        let now = context.clock.date
        guard let entry else {
            return try await fetch(request, key, nil, reason: "uri-miss", changeCount, context, send)
        }
        if entry.timeToLive(at: now) > 0 { return serve(entry, .hit, nil, key, request, context) }
        if context[Stage.StaleUse.self] == .required, entry.mayReplaceError(at: now) {
            return serve(entry, .stale, CacheStatus.staleIfError, key, request, context)
        }
        return try await fetch(request, key, entry, reason: "stale", changeCount, context, send)
    }

    /// Sends a request that the cache does not handle, and removes what it may have changed.
    private func pass(
        _ request: PipelineRequest,
        _ context: PipelineContext,
        _ send: Stage.Send
    ) async throws -> PipelineResponse {
        context.cacheStatus = CacheStatus(.bypass, reason: "method")
        var response = try await send(request)
        let control = CacheDirectives(response.headers)
        if ![.get, .head, .options, .trace].contains(request.method) || (request.method == .head && control.noStore),
            response.statusCode < 400, let url = request.url?.absoluteString
        {
            shelf.withLock { shelf in
                shelf.changeCount += 1
                shelf.entries = shelf.entries.filter { $0.key.url != url }
            }
        }
        report(CacheStatus(.bypass, reason: "method", originStatus: response.statusCode), &response, context)
        return response
    }

    private func fetch(
        _ request: PipelineRequest,
        _ key: Key,
        _ entry: StrangersEntry?,
        reason: String,
        _ changeCount: Int,
        _ context: PipelineContext,
        _ send: Stage.Send
    ) async throws -> PipelineResponse {
        var asking = request
        asking.headers[.ifNoneMatch] = entry?.headers[.eTag]
        context.cacheStatus = CacheStatus(.miss, reason: reason)
        var response: PipelineResponse
        do {
            response = try await send(asking)
        } catch {
            guard !(error is CancellationError), let entry, mayFallBack(to: entry, context) else { throw error }
            return serve(entry, .stale, CacheStatus.staleIfError, key, request, context)
        }
        if let entry, Stage.StaleUse.mayReplace(response.statusCode), mayFallBack(to: entry, context) {
            await context.report(Stage.UnseenResponse(response))
            await response.discardBody(context)
            return serve(entry, .stale, CacheStatus.staleIfError, key, request, context)
        }
        if var entry, response.statusCode == 304 {
            entry.refresh(by: response.headers, at: context.clock.date)
            await context.report(Stage.UnseenResponse(response))
            let isStorable = entry.isStorable && !isPersonal(response, request, key, context)
            change(key, changeCount) { $0 = isStorable ? entry : nil }
            return serve(entry, .revalidated, "stale", key, request, context, originStatus: 304)
        }
        response.request.headers[.ifNoneMatch] = nil
        var isStored = false
        if response.statusCode == 200 {
            let length = response.headers[.contentLength].flatMap { Int($0) }
            // A body that is read as a stream is not stored.
            if let data = response.body.bytes,
                context.transportDecodesContent || length.map({ $0 == data.count }) ?? true
            {
                let new = StrangersEntry(response.headers, data, at: context.clock.date)
                isStored =
                    new.isStorable && !context.hasUnverifiedContent && !isPersonal(response, request, key, context)
                change(key, changeCount) { $0 = isStored ? new : nil }
            }
        }
        observeDamage(of: isStored ? key : nil, response, context)
        let status = CacheStatus(.miss, reason: reason, isStored: isStored, originStatus: response.statusCode)
        report(status, &response, context)
        return response
    }

    /// Returns whether the cache responds now; leaves that to a plugin outside retries if there is one.
    private func mayFallBack(to entry: StrangersEntry, _ context: PipelineContext) -> Bool {
        guard entry.mayReplaceError(at: context.clock.date) else { return false }
        return context.update(Stage.StaleUse.self) { use in
            if use == .afterRetries { use = .available }
            return use == .atOnce
        }
    }

    private func isPersonal(
        _ response: PipelineResponse,
        _ request: PipelineRequest,
        _ key: Key,
        _ context: PipelineContext
    ) -> Bool {
        let sent = [response.request] + (response.exchanges.last.map { [$0.request] } ?? [])
        return !key.account.starts(with: context.identities)
            || sent.contains { $0.url != request.url || context.mayNameAccount($0, otherThan: request) }
    }

    private func change(_ key: Key, _ changeCount: Int, _ change: (inout StrangersEntry?) -> Void) {
        shelf.withLock { if $0.changeCount == changeCount { change(&$0.entries[key]) } }
    }

    private func serve(
        _ entry: StrangersEntry,
        _ kind: CacheStatus.Kind,
        _ reason: String?,
        _ key: Key,
        _ request: PipelineRequest,
        _ context: PipelineContext,
        originStatus: Int? = nil
    ) -> PipelineResponse {
        var response = PipelineResponse(request: request, statusCode: 200, headers: entry.headers, data: entry.data)
        response.source = .cache
        observeDamage(of: key, response, context)
        let timeToLive = entry.timeToLive(at: context.clock.date)
        report(
            CacheStatus(kind, reason: reason, timeToLive: timeToLive, originStatus: originStatus),
            &response,
            context
        )
        return response
    }

    private func report(_ status: CacheStatus, _ response: inout PipelineResponse, _ context: PipelineContext) {
        status.add(to: &response.headers)
        context.cacheStatus = status
    }

    /// Removes what is stored if a plugin outside cannot decode it.
    private func observeDamage(of key: Key?, _ response: PipelineResponse, _ context: PipelineContext) {
        guard let key, response.headers.contains(.contentEncoding) else {
            return context.observe(Stage.DamagedBody.self, by: self, nil)
        }
        context.observe(Stage.DamagedBody.self, by: self) { [weak self] _, _ in
            self?.shelf.withLock { $0.entries[key] = nil }
        }
    }
}
