import Foundation
import HTTPTypes
import NIOHTTP1

/// A request of a client, with its body in memory.
struct IncomingRequest: Sendable {
    /// The method, authority, path with query, and header fields without Host.
    var head: HTTPRequest
    var body = Data()
    /// Whether the request has a body, possibly of zero bytes.
    let hasBody: Bool

    /// Checks the head and converts it; `nil` for a request that deserves 400 Bad Request.
    ///
    /// Source: RFC 9112 §3.2, https://www.rfc-editor.org/rfc/rfc9112.html#section-3.2
    init?(_ head: HTTPRequestHead) throws {
        let hosts = head.headers["host"]
        guard let method = Self.method(of: head), hosts.count == 1 || head.version == .http1_0,
            hosts.count <= 1, let target = Self.target(of: head, host: hosts.first)
        else { return nil }
        self.head = HTTPRequest(method: method, scheme: "http", authority: target.authority, path: target.path)
        for (name, value) in head.headers where name.lowercased() != "host" {
            guard let name = HTTPField.Name(name) else { return nil }
            self.head.headerFields.append(HTTPField(name: name, value: value))
        }
        hasBody = head.headers.contains(name: "content-length") || head.headers.contains(name: "transfer-encoding")
    }

    func with(_ body: Data) -> IncomingRequest {
        var copy = self
        copy.body = body
        return copy
    }

    /// NIO spells M-SEARCH without the hyphen.
    private static func method(of head: HTTPRequestHead) -> HTTPRequest.Method? {
        HTTPRequest.Method(head.method == .MSEARCH ? "M-SEARCH" : head.method.rawValue)
    }

    /// Splits the request target, which may be a whole URL (RFC 9112 §3.2.2).
    private static func target(of head: HTTPRequestHead, host: String?) -> (authority: String?, path: String)? {
        let uri = head.uri
        if uri.hasPrefix("/") || (uri == "*" && head.method == .OPTIONS) { return (host, uri) }
        if head.method == .CONNECT { return (uri, "") }
        guard let range = uri.range(of: "http://", options: [.caseInsensitive, .anchored]) else { return nil }
        let rest = uri[range.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let path = rest[end...]
        return (String(rest[..<end]), path.hasPrefix("/") ? String(path) : "/" + path)
    }
}
