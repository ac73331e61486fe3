import HTTPTypes

extension CacheRules {
    /// Returns the fields of a response that are not stored, and not updated in a stored response.
    ///
    /// These are the fields of the connection and of proxies (RFC 9111 §3.1), Trailer, since trailers are not stored,
    /// Set-Cookie, which would set old cookies for other calls, and Authentication-Info, whose nonce may be used once.
    static func unstoredNames(_ headers: HTTPFields) -> [HTTPField.Name] {
        var names = alwaysUnstored
        for line in headers[values: .connection] {
            names += line.split(separator: ",").compactMap { HTTPField.Name($0.trimmed) }
        }
        return names
    }

    private static let alwaysUnstored: [HTTPField.Name] =
        [
            .connection, .proxyAuthenticate, .proxyAuthenticationInfo, .proxyAuthorization, .te, .trailer,
            .transferEncoding, .upgrade, .setCookie,
        ] + ["Authentication-Info", "Keep-Alive", "Proxy-Connection", "Set-Cookie2"].compactMap { HTTPField.Name($0) }
}
