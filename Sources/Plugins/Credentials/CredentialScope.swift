import Foundation
import HTTPTypes
import Pipeline

/// Where a credential may go: to the origin that its target names, and not readable on the way.
enum CredentialScope {
    /// Whether the request goes to the origin (scheme, host, port) of the call's endpoint.
    ///
    /// It does not when a plugin has led it elsewhere: what belongs to one server is not for another.
    static func isOwnOrigin(_ request: PipelineRequest, _ context: PipelineContext) -> Bool {
        let url = context.endpoint.url
        if isWritten(originOf: request.head, in: url) { return true }
        guard let endpoint = try? PipelineRequest(url: url) else { return false }
        return request.origin == endpoint.origin
    }

    /// Fails if a policy does not allow a request to carry a credential.
    ///
    /// - Throws: `PipelineError` with code `invalidRequest.credential`.
    static func check(_ request: PipelineRequest, _ policy: CleartextPolicy, _ credential: String) throws {
        guard !policy.allows(request) else { return }
        throw PipelineError(.invalidRequest(.credential), "\(credential) would leave over http, readable on the way")
    }

    /// Whether a URL begins with the scheme and the authority of a request, letter for letter: nearly all do, and need no reading.
    private static func isWritten(originOf head: HTTPRequest, in url: String) -> Bool {
        guard let scheme = head.scheme, let authority = head.authority, !authority.isEmpty else { return false }
        var end = 0
        guard url.continues(scheme, at: &end), url.continues("://", at: &end), url.continues(authority, at: &end) else {
            return false
        }
        // RFC 3986, section 3.2: one of these, or the end, ends an authority.
        return url.utf8.dropFirst(end).first.map { $0 == 0x2f || $0 == 0x3f || $0 == 0x23 } ?? true
    }
}

extension String {
    /// Whether a text stands at an offset in bytes, which then moves behind it.
    fileprivate func continues(_ text: String, at offset: inout Int) -> Bool {
        let start = offset
        offset += text.utf8.count
        let isThere = utf8.withContiguousStorageIfAvailable { bytes in
            text.utf8.withContiguousStorageIfAvailable { text in
                bytes.count - start >= text.count && bytes[start..<start + text.count].elementsEqual(text)
            }
        }
        return (isThere ?? nil) ?? false
    }
}
