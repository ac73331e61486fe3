public import Foundation

extension CookieJar {
    /// Returns the cookies to send with a request, and marks them as used.
    ///
    /// Also removes every cookie that has expired.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - rules: decides which hosts are of one site, for the attribute SameSite.
    ///   - now: the current time.
    /// - Returns: the cookies, those with longer paths first, then in the order in which they were created.
    ///
    /// Source: RFC 6265bis §5.8.3
    public mutating func cookies(for request: Request, rules: CookieRules, at now: Date) -> [Cookie] {
        cookies.removeAll { $0.isExpired(at: now) }
        let isSameSite = request.isSameSite(rules)
        let found = cookies.indices.filter { index in
            let cookie = cookies[index]
            guard cookie.isHostOnly ? cookie.domain == request.host : CookieDomain.matches(request.host, cookie.domain)
            else { return false }
            guard CookieDomain.pathMatches(request.path, cookie.path) else { return false }
            guard !cookie.isSecure || request.isSecure else { return false }
            // The list may have changed since the cookie was stored.
            guard cookie.isHostOnly || !rules.isPublicSuffix(cookie.domain) else { return false }
            switch cookie.sameSite {
            case .strict: return isSameSite
            case .lax, nil: return isSameSite || request.isSafe
            case .unrestricted: return true
            }
        }
        for index in found { cookies[index].lastAccessed = now }
        return found.map { cookies[$0] }.sorted { left, right in
            (right.path.utf8.count, left.order) < (left.path.utf8.count, right.order)
        }
    }
}

extension CookieJar.Request {
    /// Whether the request goes to the site of the call's first request.
    fileprivate func isSameSite(_ rules: CookieRules) -> Bool {
        guard host != firstHost else { return true }
        guard let site = rules.publicSuffixes?.registrableDomain(of: host) else {
            return rules.sharedDomains.contains {
                CookieDomain.matches(host, $0) && CookieDomain.matches(firstHost, $0)
            }
        }
        return site == rules.publicSuffixes?.registrableDomain(of: firstHost)
    }
}

extension Sequence<CookieJar.Cookie> {
    /// The value of a Cookie field with these cookies; `nil` if there are none.
    public var fieldValue: String? {
        let pairs = map { $0.name.isEmpty ? $0.value : "\($0.name)=\($0.value)" }
        return pairs.isEmpty ? nil : pairs.joined(separator: "; ")
    }
}
