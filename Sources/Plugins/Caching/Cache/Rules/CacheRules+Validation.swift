import Foundation
import HTTPTypes

extension CacheRules {
    /// The fields with which a request asks for a part of a response, or for one that meets a condition.
    static let conditions: [HTTPField.Name] = [
        .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange, .range,
    ]

    /// Returns the request with conditions that validate stored responses (RFC 9111 §4.3.1).
    ///
    /// If-None-Match lists the entity tags of the complete entries as the origin has sent them, also those without
    /// quotation marks.
    /// If-Modified-Since is the Last-Modified of a single entry. A request that has conditions of its own, or a range,
    /// is not changed.
    func validating(_ request: HTTPRequest, with entries: [CacheEntry]) -> HTTPRequest {
        guard !Self.conditions.contains(where: request.headerFields.contains) else { return request }
        let complete = entries.filter(\.isComplete)
        var request = request
        var tags: [String] = []
        for entry in complete {
            guard let tag = entry.headers[.originTag] ?? EntityTag.validator(entry.headers), !tags.contains(tag) else {
                continue
            }
            tags.append(tag)
        }
        if !tags.isEmpty { request.headerFields[.ifNoneMatch] = tags.joined(separator: ", ") }
        if complete.count == 1, let modified = Self.lastModified(complete[0].headers) {
            request.headerFields[.ifModifiedSince] = modified
        }
        return request
    }

    /// Finds the entry that a 304 response confirms (RFC 9111 §4.3.4).
    ///
    /// - Parameters:
    ///   - response: the response with status 304.
    ///   - entries: the entries whose validators were sent. A response without validators confirms a single entry.
    ///   - isOwnCondition: whether the cache has made the condition, and not the caller.
    /// - Returns: the latest entry with the validator of the response; `nil` if there is none.
    func selected(
        by response: HTTPResponse,
        among entries: [CacheEntry],
        isOwnCondition: Bool = true
    ) -> CacheEntry? {
        let newest = entries.filter(\.isComplete).sorted { $0.responseDate > $1.responseDate }
        let headers = response.headerFields
        if let tag = EntityTag(headers) {
            return newest.first { entry in
                EntityTag(entry.headers).map { tag.isWeak ? tag.matchesWeakly($0) : tag.matchesStrongly($0) } ?? false
            }
        }
        if let tag = EntityTag.unquoted(headers) {
            return newest.first { EntityTag.unquoted($0.headers) == tag }
        }
        if let modified = Self.lastModified(headers) {
            return newest.first { Self.lastModified($0.headers) == modified }
        }
        guard newest.count == 1, let entry = newest.first else { return nil }
        let hasValidator = EntityTag.validator(entry.headers) != nil || Self.lastModified(entry.headers) != nil
        return isOwnCondition || !hasValidator ? entry : nil
    }

    /// Returns the entry with the fields of a newer response: a 304, a response to HEAD, or a part (RFC 9111 §3.2).
    ///
    /// Content-Length, Content-Encoding and Content-Range are not updated: they describe the stored bytes.
    func refreshed(
        _ entry: CacheEntry,
        by response: HTTPResponse,
        requestDate: Date,
        responseDate: Date
    ) -> CacheEntry {
        var entry = entry
        let headers = response.headerFields
        var kept: Set = [HTTPField.Name.contentLength, .contentEncoding, .contentRange]
        kept.formUnion(Self.unstoredNames(headers))
        kept.formUnion(restrictedNames(control(of: headers)))
        for name in Set(headers.map(\.name)) where !kept.contains(name) {
            entry.headers[fields: name] = headers[fields: name]
        }
        // These are about one exchange: without them, the newer response was not delayed, and is from now.
        if !headers.contains(.age) { entry.headers[.age] = nil }
        if !headers.contains(.date) { entry.headers[.date] = CacheDate.text(responseDate) }
        entry.requestDate = requestDate
        entry.responseDate = responseDate
        return entry
    }

    /// Returns whether an entry may remain stored with the fields of a newer response (RFC 9111 §5.2.2.5, §5.2.2.7).
    func mayKeep(_ entry: CacheEntry) -> Bool {
        let control = control(of: entry.headers)
        if control.noStore, !control.mustUnderstand { return false }
        return !(isShared && control.isPrivate == .all)
    }

    /// Returns the entry with the fields of a response to HEAD; `nil` if that shows that the entry is outdated.
    ///
    /// A response with another status than 200 does not change an entry (RFC 9111 §4.3.5).
    func refreshedByHead(
        _ entry: CacheEntry,
        by response: HTTPResponse,
        requestDate: Date,
        responseDate: Date
    ) -> CacheEntry? {
        guard response.status.code == 200, entry.statusCode == 200 else { return entry }
        let (new, old) = (response.headerFields, entry.headers)
        if let tag = EntityTag.validator(new), EntityTag.validator(old) != tag { return nil }
        if let modified = Self.lastModified(new), Self.lastModified(old) != modified { return nil }
        if let length = new[.contentLength] {
            guard length == old[.contentLength] ?? entry.totalByteCount.map(String.init) ?? length else { return nil }
        }
        return refreshed(entry, by: response, requestDate: requestDate, responseDate: responseDate)
    }

    /// Returns Last-Modified if it occurs once and is not empty.
    static func lastModified(_ headers: HTTPFields) -> String? {
        headers.single(.lastModified).flatMap { $0.isEmpty ? nil : $0 }
    }
}
