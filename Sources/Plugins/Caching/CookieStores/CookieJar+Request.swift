public import HTTPTypes

extension CookieJar {
    /// What decides which cookies are sent with a request, and accepted from its response.
    public struct Request: Sendable, Hashable {
        /// The host in lower-case ASCII form, without a port.
        let host: String
        /// The path, without the query.
        let path: String
        /// Whether the connection is encrypted, or stays on this machine.
        let isSecure: Bool
        /// The host of the call's first request, in the same form as ``host``.
        let firstHost: String
        /// Whether the scheme is that of the call's first request.
        let hasFirstScheme: Bool
        /// Whether the method is safe, so that requests of other sites carry lax cookies.
        let isSafe: Bool

        /// Describes a request; `nil` if a host cannot be a host, or has user info before it.
        ///
        /// - Parameters:
        ///   - scheme: `https`, or another scheme, which is not secure.
        ///   - authority: the host, with or without a port. Cookies do not depend on ports.
        ///   - path: the path; a query is ignored.
        ///   - method: the method.
        ///   - firstScheme: the scheme of the call's first request; `nil` if it is `scheme`.
        ///   - firstAuthority: the host of the call's first request; `nil` if this is the first one.
        public init?(
            scheme: String,
            authority: String,
            path: String,
            method: HTTPRequest.Method = .get,
            firstScheme: String? = nil,
            firstAuthority: String? = nil
        ) {
            guard let host = Self.host(of: authority), let firstHost = Self.host(of: firstAuthority ?? authority)
            else { return nil }
            self.host = host
            self.path = path.utf8.first == UInt8(ascii: "/") ? String(path.unicodeScalars.prefix { $0 != "?" }) : "/"
            isSecure = scheme.lowercased() == "https" || CookieDomain.isLoopback(host)
            self.firstHost = firstHost
            hasFirstScheme = firstScheme.map { $0.lowercased() == scheme.lowercased() } ?? true
            isSafe = ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"].contains(method.rawValue)
        }

        private static func host(of authority: String) -> String? {
            guard !authority.utf8.contains(UInt8(ascii: "@")) else { return nil }
            if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
                return Punycode.asciiHost(String(authority[...end]))
            }
            return Punycode.asciiHost(String(authority.prefix { $0 != ":" }))
        }
    }
}
