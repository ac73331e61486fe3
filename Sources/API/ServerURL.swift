public import Foundation
public import Pipeline

/// A server, and the path that all of its endpoints share.
///
/// ```swift
/// ServerURL(base: "https://api.example.com", path: "v1")
/// ```
///
/// What cannot be the URL of a request is refused when one is made, with `invalidRequest`.
///
/// **Secrets**: its description shows scheme, host, port and path alone.
public struct ServerURL: Sendable, Hashable {
    /// Scheme and host, for example `https://api.example.com`.
    public let base: String
    /// The path below it, empty for none.
    public let path: String
    /// Where requests may send `basicAuth` and `bearer` over http.
    public let cleartext: CleartextPolicy

    /// Makes a server; exactly one slash ends up between the two.
    ///
    /// - Parameters:
    ///   - base: scheme and host.
    ///   - path: the path below it.
    ///   - cleartext: where requests may send `basicAuth` and `bearer` over http.
    public init(base: String, path: String = "", cleartext: CleartextPolicy = .loopbackOnly) {
        self.base = base
        self.path = path
        self.cleartext = cleartext
    }

    /// Why no request can go there, `nil` when one may, or when that is seen as it is made.
    fileprivate var failure: PipelineError? {
        if (try? URLText.requestTarget(of: base)) != nil { return nil }
        // No more than the host: what stands before it is a user's name, and what stands behind it may be a key.
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
            "the base of the server is no URL: its host is \(String(host.prefix { !"/?#".contains($0) }).quotedExcerpt)"
        return PipelineError(.invalidRequest(.url), reason)
    }

    /// Both in one.
    public var url: URL { URL(string: URLText.joining(base: base, path: path)) ?? Self.missing }

    /// No server: it has no scheme, so no request can be made of it.
    static let missing = URL(string: "/") ?? URL(filePath: "/")
}

extension APIRequest: URLFailureExplaining {
    /// What is wrong with its server, `nil` when nothing is.
    package var urlFailure: PipelineError? {
        guard let server = parts.server else {
            return PipelineError(.invalidRequest(.url), "neither the request nor a client names a server")
        }
        return server.failure
    }
}

extension ServerURL: SafelyDescribed {
    /// Scheme, host, port and path, without user name, query and fragment.
    public var description: String {
        // Of a text that is no URL nobody can say where a secret begins.
        guard let shown = URLComponents(string: URLText.joining(base: base, path: path)), let scheme = shown.scheme,
            let host = shown.encodedHost, URLText.isAuthority(host)
        else { return "a server that is no URL" }
        return "\(scheme)://\(host)\(shown.port.map { ":\($0)" } ?? "")\(shown.percentEncodedPath)"
    }
}
