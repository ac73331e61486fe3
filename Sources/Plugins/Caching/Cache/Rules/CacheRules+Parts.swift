import Foundation
import HTTPTypes

extension CacheRules {
    /// Returns a request for the bytes that an incomplete entry lacks (RFC 9111 §3.3); `nil` if they cannot be joined.
    ///
    /// The entry must begin at the first byte and have a strong validator. The request must be a GET request without
    /// conditions and without a range. An origin whose representation has changed responds with the whole one.
    func askingForRest(_ request: HTTPRequest, of entry: CacheEntry) -> HTTPRequest? {
        guard request.method == .get, !Self.conditions.contains(where: request.headerFields.contains),
            entry.statusCode == 200,
            !entry.isComplete, entry.firstByte == 0, entry.byteCount > 0, let validator = Self.strongValidator(entry)
        else { return nil }
        var request = request
        request.headerFields[.range] = "bytes=\(entry.byteCount)-"
        request.headerFields[.ifRange] = validator
        return request
    }

    /// Returns the positions of a 206 response if its bytes continue an entry; `nil` if they cannot be combined.
    ///
    /// Both must have the same strong validator (RFC 9111 §3.4), the same content coding, and agree about the length of
    /// the whole. Combine the fields with ``refreshed(_:by:requestDate:responseDate:)``.
    func continuation(of entry: CacheEntry, by response: HTTPResponse) -> ContentRange? {
        let headers = response.headerFields
        guard response.status.code == 206, entry.statusCode == 200, let part = ContentRange(headers),
            part.range.lowerBound == entry.firstByte + entry.byteCount,
            entry.totalByteCount == nil || part.totalByteCount == nil
                || entry.totalByteCount == part.totalByteCount,
            headers[.contentEncoding] == entry.headers[.contentEncoding]
        else { return nil }
        if let tag = EntityTag(headers) {
            guard EntityTag(entry.headers)?.matchesStrongly(tag) == true else { return nil }
            return part
        }
        guard EntityTag(entry.headers) == nil, Self.hasStrongLastModified(entry),
            Self.lastModified(headers) == Self.lastModified(entry.headers)
        else { return nil }
        return part
    }

    /// Returns the strong validator of an entry as If-Range has it: the entity tag, otherwise Last-Modified.
    private static func strongValidator(_ entry: CacheEntry) -> String? {
        if let tag = EntityTag(entry.headers) { return tag.isWeak ? nil : tag.text }
        return hasStrongLastModified(entry) ? lastModified(entry.headers) : nil
    }
}
