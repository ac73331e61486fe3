import Foundation
import HTTPTypes
import PipelineCore

extension CachedExchange {
    /// Asks the origin whether a stored response is still valid (RFC 9111 §4.3).
    func validate(
        _ lookup: Lookup,
        _ freshness: CacheRules.Freshness,
        staleIfErrorUntil limit: Int?
    ) async throws -> PipelineResponse {
        guard let entry = lookup.entries.first else { return try await fetch(lookup, reason: "miss") }
        if context[Stage.StaleUse.self] == .required, let limit, freshness.staleness <= limit,
            let response = await serve(entry, freshness, .stale, reason: CacheStatus.staleIfError)
        {
            return response
        }
        var validation = request
        validation.head = rules.validating(request.head, with: lookup.entries)
        let isConditional = validation.head != request.head
        let reason = !isConditional && !entry.isComplete ? "partial" : freshness.isFresh ? "request" : "stale"
        // A part is completed, if it cannot be validated.
        if isOnlyIfCached || reason == "partial" { return try await fetch(lookup, reason: reason) }
        let sent = context.clock.date
        var response: PipelineResponse
        do {
            response = try await forward(validation, reason)
        } catch {
            if let stale = await fallback(to: entry, freshness, until: limit) { return stale }
            throw error
        }
        if Stage.StaleUse.mayReplace(response.statusCode),
            let stale = await fallback(to: entry, freshness, until: limit, inPlaceOf: response)
        {
            return stale
        }
        if isConditional {
            if response.statusCode == 304 { return try await confirm(response, lookup, sentAt: sent) }
            response.request.head = withoutConditions(response.request.head)
        }
        return await receive(response, lookup, sentAt: sent, reason: reason)
    }

    /// Returns a head with the conditions of the caller in place of those of the cache.
    private func withoutConditions(_ head: HTTPRequest) -> HTTPRequest {
        var head = head
        for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince] {
            head.headerFields[fields: name] = request.headers[fields: name]
        }
        return head
    }

    /// Uses the stored response that the origin has confirmed (RFC 9111 §4.3.4).
    private func confirm(
        _ response: PipelineResponse,
        _ lookup: Lookup,
        sentAt sent: Date
    ) async throws -> PipelineResponse {
        let now = context.clock.date
        let head = storable(response.head)
        guard let entry = rules.selected(by: head, among: lookup.entries) else {
            await drop(response)
            return try await fetch(lookup, reason: "miss")
        }
        let updated = rules.refreshed(entry, by: head, requestDate: sent, responseDate: now)
        let isKept = rules.mayKeep(updated)
        if isKept, isIdentified(response) { await update(updated, lookup) }
        let freshness = rules.freshness(of: updated, at: now)
        let reason = rules.freshness(of: entry, at: now).isFresh ? "request" : "stale"
        let revalidated = await serve(updated, freshness, .revalidated, reason: reason, originStatus: 304)
        if !isKept { await remove(entry) }
        if var served = revalidated {
            // The store keeps no cookies, but a session may have been renewed.
            served.headers[fields: .setCookie] = response.headers[fields: .setCookie]
            return served
        }
        await drop(response)
        return try await fetch(lookup, reason: updated.isComplete ? "miss" : "partial")
    }

    /// Drops a response that no plugin outside gets, except for its cookies.
    func drop(_ response: PipelineResponse) async { await context.report(Stage.UnseenResponse(response)) }

    /// Updates the stored response that a 304 for the caller's own condition confirms.
    func confirmForCaller(
        _ response: PipelineResponse,
        _ lookup: Lookup,
        sentAt sent: Date,
        isOwnCondition: Bool = false
    ) async {
        let head = storable(response.head)
        guard isIdentified(response),
            let entry = rules.selected(by: head, among: lookup.entries, isOwnCondition: isOwnCondition)
        else { return }
        let now = context.clock.date
        await update(rules.refreshed(entry, by: head, requestDate: sent, responseDate: now), lookup)
    }

    /// Updates the fields of a stored response, or removes it if they forbid to store it.
    func update(_ entry: CacheEntry, _ lookup: Lookup) async {
        guard rules.mayKeep(entry), let variant = variant(of: entry.headers, lookup.hash) else {
            return await remove(entry)
        }
        _ = await plugin.limited(context, .lookup) { [store] in
            var entry = entry
            entry.variant = variant
            try await store.update(entry)
        }
    }

    // MARK: Background

    /// Revalidates a response in the background, unless another call or machine does (RFC 5861 §3).
    func revalidateInBackground(_ lookup: Lookup) async {
        let now = context.clock.date
        let token = await plugin.limited(context, .lookup) { [store] in
            try await store.lock(lookup.key, for: Self.lockDuration, at: now)
        }
        guard let token else { return }
        var validation = request
        validation.head = rules.validating(request.head, with: lookup.entries)
        let isConditional = validation.head != request.head
        context.cacheStatus = CacheStatus(.miss, reason: "stale")
        let task = send.startBackgroundCall(validation) { result in
            if case .success(let response) = result { await context.report(Stage.UnseenResponse(response)) }
            await receiveInBackground(result, lookup, sentAt: now, isConditional: isConditional)
            await unlock(lookup.key, token)
        }
        if task == nil { await unlock(lookup.key, token) }
    }

    private static var lockDuration: Duration { .seconds(30) }

    private func unlock(_ key: CacheKey, _ token: UUID) async {
        _ = await plugin.limited(context, .lookup) { [store] in try await store.unlock(key, token) }
    }

    private func receiveInBackground(
        _ result: Result<PipelineResponse, any Error>,
        _ lookup: Lookup,
        sentAt sent: Date,
        isConditional: Bool
    ) async {
        guard case .success(var response) = result else { return }
        if response.statusCode == 304 {
            await confirmForCaller(response, lookup, sentAt: sent, isOwnCondition: isConditional)
        } else if !Stage.StaleUse.mayReplace(response.statusCode) {
            response = await receive(response, lookup, sentAt: sent, reason: "stale", isInBackground: true)
            if response.cacheStatus?.isStored == true {
                // A response whose body fails does not replace a whole one, and no caller waits for it.
                do { for try await _ in response.body.chunks() {} } catch {}
            }
        }
    }
}
