import Foundation
import HTTPTypes

extension CacheRules {
    /// A response that is made from a stored one.
    struct Served: Sendable, Equatable {
        var head: HTTPResponse
        /// The positions of the content in the whole representation; `nil` if the response has no content.
        var range: Range<Int>?
    }

    /// Returns the response to a request from the store; `nil` if the stored bytes do not suffice.
    ///
    /// Evaluates the conditions of the request, then a single range (RFC 9110 §13.2.2), and adds Age. The response to
    /// HEAD has no content.
    func served(_ entry: CacheEntry, to request: HTTPRequest, age: Int) -> Served? {
        var headers = entry.headers
        headers[.age] = String(max(0, min(age, CacheControl.maximumSeconds)))
        let stored = entry.firstByte..<entry.firstByte + entry.byteCount
        if (200..<300).contains(entry.statusCode), Self.isNotModified(entry, request) {
            return Served(head: HTTPResponse(status: .notModified, headerFields: Self.fieldsOfNotModified(headers)))
        }
        if request.method == .head {
            return Served(head: HTTPResponse(status: .init(code: entry.statusCode), headerFields: headers))
        }
        if entry.statusCode == 200, let asked = ByteRange(request), Self.appliesRange(entry, request) {
            guard let positions = asked.positions(total: entry.totalByteCount) else { return nil }
            if positions.isEmpty { return Self.unsatisfiable(entry, headers) }
            guard stored.lowerBound <= positions.lowerBound, positions.upperBound <= stored.upperBound else {
                return nil
            }
            let total = entry.totalByteCount.map(String.init) ?? "*"
            headers[.contentRange] = "bytes \(positions.lowerBound)-\(positions.upperBound - 1)/\(total)"
            headers[.contentLength] = String(positions.count)
            return Served(head: HTTPResponse(status: .partialContent, headerFields: headers), range: positions)
        }
        guard entry.isComplete else { return nil }
        return Served(head: HTTPResponse(status: .init(code: entry.statusCode), headerFields: headers), range: stored)
    }

    private static func unsatisfiable(_ entry: CacheEntry, _ stored: HTTPFields) -> Served? {
        guard let total = entry.totalByteCount else { return nil }
        var headers: HTTPFields = [.contentRange: "bytes */\(total)"]
        for name in [HTTPField.Name.age, .date] { headers[fields: name] = stored[fields: name] }
        return Served(head: HTTPResponse(status: .rangeNotSatisfiable, headerFields: headers))
    }

    /// Whether If-None-Match or, without it, If-Modified-Since is false for the stored response (RFC 9111 §4.3.2).
    private static func isNotModified(_ entry: CacheEntry, _ request: HTTPRequest) -> Bool {
        let lines = request.headerFields[values: .ifNoneMatch]
        if !lines.isEmpty {
            if lines.map(\.trimmed) == ["*"] { return true }
            guard let tag = EntityTag(entry.headers) else { return false }
            return EntityTag.list(lines).contains { $0.matchesWeakly(tag) }
        }
        let now = entry.responseDate
        guard let since = request.headerFields.single(.ifModifiedSince).flatMap({ CacheDate.seconds($0, now: now) })
        else { return false }
        let validator = lastModified(entry.headers) ?? entry.headers.first(.date)
        let modified = validator.flatMap { CacheDate.seconds($0, now: now) } ?? Int(now.timeIntervalSince1970)
        return modified <= since
    }

    /// Whether a range of the request applies: there is no If-Range, or it matches (RFC 9110 §13.1.5).
    private static func appliesRange(_ entry: CacheEntry, _ request: HTTPRequest) -> Bool {
        let lines = request.headerFields[values: .ifRange]
        guard let line = lines.first else { return true }
        guard lines.count == 1 else { return false }
        if let tag = EntityTag(line) { return EntityTag(entry.headers)?.matchesStrongly(tag) ?? false }
        return hasStrongLastModified(entry) && lastModified(entry.headers) == line
    }

    /// Whether Last-Modified is at least a minute before Date, so that it is a strong validator (RFC 9110 §8.8.2.2).
    static func hasStrongLastModified(_ entry: CacheEntry) -> Bool {
        let now = entry.responseDate
        guard let modified = lastModified(entry.headers).flatMap({ CacheDate.seconds($0, now: now) }),
            let date = entry.headers.first(.date).flatMap({ CacheDate.seconds($0, now: now) })
        else { return false }
        return modified <= date - 60
    }

    /// Returns the fields of a 304 response (RFC 9110 §15.4.5).
    private static func fieldsOfNotModified(_ stored: HTTPFields) -> HTTPFields {
        let names: Set<HTTPField.Name> = [
            .age, .cacheControl, .contentLocation, .date, .eTag, .expires, .lastModified, .vary,
        ]
        var headers = HTTPFields()
        for field in stored where names.contains(field.name) { headers.append(field) }
        return headers
    }
}
