import Foundation
import HTTPTypes
import PipelineCore

extension CachedExchange {
    /// Stores a response of the origin while it is passed on.
    func receive(
        _ response: PipelineResponse,
        _ lookup: Lookup,
        sentAt sent: Date,
        reason: String,
        isInBackground: Bool = false
    ) async -> PipelineResponse {
        var response = response
        var stored: CacheEntry?
        if request.method == .head {
            await receiveHead(response, lookup, sentAt: sent)
        } else if response.statusCode == 304 {
            await confirmForCaller(response, lookup, sentAt: sent)
        } else if let entry = entry(for: response, lookup, sentAt: sent) {
            let isStored = await store(&response, as: entry, lookup, isInBackground)
            if isStored { stored = entry }
        }
        if stored == nil, isReplacement(response) {
            // The origin has a newer response, which is not stored.
            for entry in lookup.entries { await remove(entry) }
        }
        let freshness = stored.map { rules.freshness(of: $0, at: context.clock.date) }
        let status = CacheStatus(
            .miss,
            reason: reason,
            timeToLive: freshness.map { $0.lifetime - $0.age },
            isStored: stored != nil,
            originStatus: response.statusCode
        )
        if isInBackground {
            status.add(to: &response.headers)
        } else {
            report(status, of: stored, in: &response.headers)
        }
        return response
    }

    /// Whether a response is what a GET without conditions and ranges gets from now on.
    private func isReplacement(_ response: PipelineResponse) -> Bool {
        let own: [HTTPField.Name] = [.range, .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince]
        let status = response.statusCode
        // Other errors, such as 401 and 429, are about the request.
        let isOfResource =
            (200...399).contains(status) && ![206, 304].contains(status) || status == 404 || status == 410
        return request.method != .head && isOfResource && !own.contains(where: request.headers.contains)
    }

    func remove(_ entry: CacheEntry) async { await plugin.remove(entry, of: resource, context) }

    /// Makes a response visible unless its resource has changed; returns whether it is stored.
    ///
    /// The store knows the changes of other processes. A change of this process is recorded before its removal: either
    /// this sees the change, or the removal sees the entry.
    func publish(
        _ writer: any CacheBodyWriter,
        _ totalByteCount: Int?,
        _ lookup: Lookup
    ) async throws -> Bool {
        let generation = lookup.generation
        guard let entry = try await writer.finish(totalByteCount: totalByteCount, ifUnchangedSince: generation) else {
            return false
        }
        if isCurrent { return true }
        await remove(entry)
        return false
    }

    /// Whether a response depends on a field that a plugin inside the cache has set, which no lookup can compare.
    ///
    /// Credentials are part of the key, and Accept-Encoding is that of the transport.
    private func dependsOnInside(_ response: PipelineResponse) -> Bool {
        let sent = response.request
        let names = CacheRules.varyNames(response.headers)?.compactMap { HTTPField.Name($0) } ?? []
        return names.contains {
            $0 != .acceptEncoding && !AccountFields.isCredential($0, of: sent)
                && sent.headers[$0] != request.headers[$0]
        }
    }

    /// Whether the key depends on all that may name an account in a request, also on what a plugin inside the cache has
    /// set.
    ///
    /// The URL that a plugin inside has changed may contain a credential, and an identity that was added inside is not
    /// part of the key.
    func isIdentified(_ response: PipelineResponse) -> Bool {
        guard plugin.account == nil else { return true }
        let isOfResource = CacheRules.resourceText(response.request.head) == CacheRules.resourceText(request.head)
        guard context.identities == identities, isOfResource || rules.audience == .shared else { return false }
        return Self.sent(response)
            .allSatisfy { !context.mayNameAccount($0, otherThan: request, ignoringCredentials: rules.isShared) }
    }

    /// The request of a response, as plugins and as a transport that wraps another have sent it.
    private static func sent(_ response: PipelineResponse) -> [PipelineRequest] {
        [response.request] + (response.exchanges.last.map { [$0.request] } ?? [])
    }

    /// Returns what to store of a response; `nil` if it must not be stored.
    private func entry(for response: PipelineResponse, _ lookup: Lookup, sentAt date: Date) -> CacheEntry? {
        let now = context.clock.date
        guard isIdentified(response) else { return nil }
        let hasCredential = Self.sent(response).contains { sent in
            sent.headers.contains { AccountFields.isCredential($0.name, of: sent) }
        }
        if context.hasUnverifiedContent || context.transportDecodesContent && response.statusCode == 206 { return nil }
        let head = storable(response.head)
        // A failure must not replace the response that is used in its place.
        if Stage.StaleUse.mayReplace(response.statusCode), context[Stage.StaleUse.self] == .available { return nil }
        guard lookup.entries.isEmpty || rules.mayReplace(with: head),
            isCurrent,
            case .store(let fields) = rules.storing(head, to: request.head, hasCredential: hasCredential, now: now),
            !dependsOnInside(response),
            let variant = variant(of: fields, lookup.hash)
        else { return nil }
        var entry = CacheEntry(
            id: UUID(),
            key: lookup.key,
            variant: variant,
            statusCode: head.status.code,
            headers: fields,
            requestDate: date,
            responseDate: now
        )
        if head.status.code == 206 {
            guard let part = CacheRules.ContentRange(head.headerFields),
                !lookup.entries.contains(where: \.isComplete)
            else { return nil }
            entry.statusCode = 200
            entry.firstByte = part.range.lowerBound
            entry.totalByteCount = part.totalByteCount
            entry.headers[.contentRange] = nil
            entry.headers[.contentLength] = part.totalByteCount.map(String.init)
        }
        return entry
    }

    /// Returns a head that describes bodies as the transport hands them over.
    ///
    /// If they are decoded, they are not the bytes that the origin has labelled with a strong ETag. The entry then has
    /// a weak one, so that no part of it is used, and keeps the one of the origin for callers and for validation. Some
    /// origins compare the text of a tag, and not weakly as RFC 9110 §13.1.2 requires.
    func storable(_ head: HTTPResponse) -> HTTPResponse {
        var head = head
        head.headerFields[.originTag] = nil
        guard context.transportDecodesContent else { return head }
        head.headerFields[.acceptRanges] = nil
        if let tag = head.headerFields[.eTag], EntityTag(tag)?.isWeak == false {
            head.headerFields[.eTag] = "W/" + tag
            head.headerFields[.originTag] = tag
        }
        return head
    }

    /// Gives a response the ETag of the origin, with which a caller may ask for a change.
    func restoreTag(_ fields: inout HTTPFields, of status: HTTPResponse.Status, from entry: CacheEntry) {
        fields[.originTag] = nil
        if status != .partialContent, let tag = entry.headers[.originTag] { fields[.eTag] = tag }
    }

    /// Stores a response, a stream while it is read; returns `false` if the store does not take it.
    private func store(
        _ response: inout PipelineResponse,
        as entry: CacheEntry,
        _ lookup: Lookup,
        _ isInBackground: Bool
    ) async -> Bool {
        let expectation = expectation(of: response)
        // A stream without bytes need not be read.
        if let bytes = response.body.bytes ?? (response.body.byteCount == 0 ? Data() : nil) {
            return await store(bytes, expectation, as: entry, lookup)
        }
        let byteCount = response.body.byteCount ?? response.headers[.contentLength].flatMap { Int($0) }
        let begun = await plugin.limited(context, .lookup) { [store] in
            try await store.write(entry, byteCount: byteCount)
        }
        guard let writer = begun else { return false }
        let sink = CacheSink(writer, self, entry, lookup, expectation)
        let upstream = response.body
        let chunks = StoringChunks(body: upstream, sink: sink, endsWithSink: isInBackground)
        response.body = .stream(chunks, byteCount: upstream.byteCount)
        return true
    }

    /// Stores a whole body, for which the call waits only once.
    private func store(
        _ bytes: Data,
        _ expectation: CacheSink.Expectation,
        as entry: CacheEntry,
        _ lookup: Lookup
    ) async -> Bool {
        guard expectation.byteCount == nil || expectation.byteCount == bytes.count else { return false }
        let isStored = await plugin.limited(context, .finish) { [store] in
            guard let writer = try await store.write(entry, byteCount: bytes.count) else { return false }
            if !bytes.isEmpty { try await writer.append(bytes) }
            guard isCurrent else {
                await writer.discard()
                return false
            }
            let totalByteCount = expectation.isPart ? expectation.totalByteCount : bytes.count
            return try await publish(writer, totalByteCount, lookup)
        }
        return isStored == true
    }

    /// Returns what a body must have to be stored in whole or in part.
    private func expectation(of response: PipelineResponse) -> CacheSink.Expectation {
        let part = response.statusCode == 206 ? CacheRules.ContentRange(response.headers) : nil
        let length = part?.range.count ?? (context.transportDecodesContent ? nil : announcedByteCount(response))
        return CacheSink.Expectation(
            byteCount: length,
            totalByteCount: part?.totalByteCount ?? length,
            isPart: part != nil,
            isKeptIfInterrupted: length != nil && !context.transportDecodesContent && response.statusCode == 200
                && EntityTag(response.headers)?.isWeak == false
        )
    }

    private func announcedByteCount(_ response: PipelineResponse) -> Int? {
        response.headers[.contentLength].flatMap { Int($0) } ?? response.body.byteCount
    }

    // MARK: HEAD

    /// Updates what is stored of a response to GET, or removes it if it has changed (RFC 9111 §4.3.5).
    private func receiveHead(_ response: PipelineResponse, _ lookup: Lookup, sentAt sent: Date) async {
        guard response.statusCode == 200, isIdentified(response) else { return }
        let now = context.clock.date
        for entry in lookup.entries {
            let updated = rules.refreshedByHead(
                entry,
                by: storable(response.head),
                requestDate: sent,
                responseDate: now
            )
            if let updated { await update(updated, lookup) } else { await remove(entry) }
        }
    }

    // MARK: Parts

    /// Asks for the rest of a response of which the beginning is stored, and returns the whole (RFC 9111 §3.4).
    func complete(_ part: CacheEntry, with rest: HTTPRequest, _ lookup: Lookup) async throws -> PipelineResponse {
        var asking = request
        asking.head = rest
        let sent = context.clock.date
        var response = try await forward(asking, "partial")
        response.request.headers[.range] = request.headers[.range]
        response.request.headers[.ifRange] = request.headers[.ifRange]
        guard response.statusCode == 206 else {
            if response.statusCode == 416 { return try await retryWhole(lookup, after: response) }
            return await receive(response, lookup, sentAt: sent, reason: "partial")
        }
        guard let range = rules.continuation(of: part, by: response.head),
            range.range.upperBound == range.totalByteCount,
            let reader = await plugin.limited(context, .lookup, { [store] in try await store.body(of: part) }),
            let stored = await body(reader, 0..<part.byteCount, of: part)
        else { return try await retryWhole(lookup, after: response) }
        let head = rules.refreshed(part, by: response.head, requestDate: sent, responseDate: context.clock.date)
        let chunks = JoinedChunks(first: stored, second: response.body, secondByteCount: range.range.count)
        response.body = .stream(chunks, byteCount: range.totalByteCount)
        let cookies = response.headers[fields: .setCookie]
        response.head = HTTPResponse(status: .ok, headerFields: head.headers)
        response.headers[.contentLength] = range.totalByteCount.map(String.init)
        response.headers[fields: .setCookie] = cookies
        return await receive(response, lookup, sentAt: sent, reason: "partial")
    }

    private func retryWhole(_ lookup: Lookup, after response: PipelineResponse) async throws -> PipelineResponse {
        await drop(response)
        return try await exchange(lookup, reason: "miss")
    }
}

extension HTTPField.Name {
    /// The field of an entry with the strong ETag of a body that the transport has decoded; no caller gets it.
    static let originTag = Self("Pipeline-Origin-ETag") ?? .eTag
}
