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

    func parameter(_ encodedName: String) -> String? {
        query.flatMap { QueryParameters.value(of: encodedName, in: $0) }
    }

    /// The path with the query; an empty path becomes `/`.
    private var rooted: String {
        let path = request.path ?? ""
        return path.isEmpty || path.hasPrefix("?") ? "/" + path : path
    }
}
#endif
