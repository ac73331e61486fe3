public import Foundation
public import PipelineCore

/// A server and the path that all of its endpoints share.
///
/// ```swift
/// ServerURL(base: "https://api.example.com", path: "v1")
/// ```
///
/// If the base is not a valid URL, each request to the server fails with `invalidRequest` before it is sent.
///
/// **Secrets**: the description shows only scheme, host, port and path.
public struct ServerURL: Sendable, Hashable {
    /// The scheme and the host, for example `https://api.example.com`.
    public let base: String
    /// The path below the base, empty for none.
    public let path: String
    /// The hosts to which requests may send `basicAuth` and `bearer` over http.
    public let cleartext: CleartextPolicy
    /// Whether requests can be made from the base; decided once, because each request asks.
    private let isRequestable: Bool

    /// Creates a server; base and path are joined by exactly one slash.
    ///
    /// - Parameters:
    ///   - base: the scheme and the host.
    ///   - path: the path below the base; defaults to none.
    ///   - cleartext: the hosts to which requests may send `basicAuth` and `bearer` over http; defaults to
    ///     `.loopbackOnly`.
    public init(base: String, path: String = "", cleartext: CleartextPolicy = .loopbackOnly) {
        self.base = base
        self.path = path
        self.cleartext = cleartext
        isRequestable = (try? URLText.requestTarget(of: base)) != nil
    }

    /// The reason that no request can use this server, `nil` if one can or if the reason shows only when it is made.
    fileprivate var failure: PipelineError? {
        if isRequestable { return nil }
        // Quotes only the host: a user name may precede it, and a key may follow it.
        let behindUser = base.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        guard base.contains("://") else {
            let host = String(behindUser.prefix { !"/?#".contains($0) })
            let reason =
                "the base \(host.quotedExcerpt) of the server has no scheme: write https:// or http:// before it"
            return PipelineError(.invalidRequest(.url), reason)
        }
        guard URL(string: base)?.host() == nil else { return nil }
        let host = behindUser.firstRange(of: "://").map { behindUser[$0.upperBound...] } ?? behindUser
        let reason =
            "the base of the server is not a URL: its host is \(String(host.prefix { !"/?#".contains($0) }).quotedExcerpt)"
        return PipelineError(.invalidRequest(.url), reason)
    }

    /// The base and the path as one URL; if they do not form a valid one, a URL that no request can be sent to.
    public var url: URL { URL(string: URLText.joining(base: base, path: path)) ?? Self.missing }

    /// A placeholder for a missing server: without a scheme, no request can be made from it.
    static let missing = URL(string: "/") ?? URL(filePath: "/")
}

extension APIRequest {
    /// The error if the server is missing or invalid, else `nil`.
    var urlFailure: PipelineError? {
        guard let server = parts.server else {
            return PipelineError(.invalidRequest(.url), "neither the request nor a client names a server")
        }
        return server.failure
    }
}

extension ServerURL: SafelyDescribed {
    /// The scheme, host, port and path, without user name, query and fragment.
    public var description: String {
        // In a text that is not a URL, the start of a secret cannot be determined.
        guard let shown = URLComponents(string: URLText.joining(base: base, path: path)), let scheme = shown.scheme,
            let host = shown.encodedHost, URLText.isAuthority(host)
        else { return "a server that is not a URL" }
        return "\(scheme)://\(host)\(shown.port.map { ":\($0)" } ?? "")\(shown.percentEncodedPath)"
    }
}
