#if Crypto || canImport(CryptoKit)
import HTTPTypes

/// The target of a request, in the parts that a signature may cover.
///
/// Source: RFC 9421 §2.2, https://www.rfc-editor.org/rfc/rfc9421.html#section-2.2
struct SignedTarget {
    private let request: HTTPRequest

    init(_ request: HTTPRequest) { self.request = request }

    private var isConnect: Bool { request.method == .connect }

    var scheme: String? { request.scheme?.lowercased() }

    /// The host in lower case, without the default port of the scheme.
    var authority: String? {
        guard let authority = request.authority?.lowercased() else { return nil }
        let port = scheme == "https" ? ":443" : ":80"
        return authority.hasSuffix(port) && scheme != nil ? String(authority.dropLast(port.count)) : authority
    }

    /// The URL with the authority as it was sent.
    var uri: String? {
        guard !isConnect, let scheme, let authority = request.authority else { return nil }
        // OPTIONS * is sent for a URL without a path (RFC 9110 §7.1).
        let isServerWide = request.path == "*"
        return "\(scheme)://\(authority)\(isServerWide ? "" : rooted)"
    }

    var requestTarget: String? { isConnect ? request.authority : request.path == "*" ? "*" : rooted }

    var path: String? { isConnect ? nil : request.path == "*" ? "/" : String(rooted.prefix { $0 != "?" }) }

    /// The query without the question mark; empty if there is none.
    var query: String? { isConnect ? nil : String(rooted.drop { $0 != "?" }.dropFirst()) }

    /// The encoded values of the query parameters by their encoded names.
    ///
    /// Source: RFC 9421 §2.2.8, https://www.rfc-editor.org/rfc/rfc9421.html#section-2.2.8
    var parameters: [String: [String]] {
        (query ?? "").split(separator: "&").reduce(into: [:]) { parameters, pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                // Bytes that are not UTF-8 become U+FFFD.
                Self.encoded(String(decoding: PercentCoding.decoded(part.utf8, plusIsBlank: true), as: UTF8.self))
            }
            parameters[parts[0], default: []].append(parts.count > 1 ? parts[1] : "")
        }
    }

    /// Percent-encodes everything but letters, digits, and `*-._`, as forms do.
    static func encoded(_ text: String) -> String { PercentCoding.encoded(text.utf8, keeping: plain) }

    private static let plain = Array("*-._".utf8)

    /// The path with the query; an empty path becomes `/`.
    private var rooted: String {
        let path = request.path ?? ""
        return path.isEmpty || path.hasPrefix("?") ? "/" + path : path
    }
}
#endif
