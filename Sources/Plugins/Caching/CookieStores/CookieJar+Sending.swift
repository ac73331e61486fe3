public import Foundation

extension CookieJar {
    /// The bytes that a Cookie field may have, as in curl.
    static let fieldByteCount = 8190

    /// Returns the cookies to send with a request.
    ///
    /// Leaves out cookies that a header field cannot hold, and the last ones if all together have more than 8190 bytes.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - rules: decides which hosts are of one site, for the attribute SameSite.
    ///   - now: the current time.
    /// - Returns: the cookies, those with longer paths first, then in the order in which they were created.
    ///
    /// Source: RFC 6265bis §5.8.3
    public func cookies(for request: Request, rules: CookieRules, at now: Date) -> [Cookie] {
        indices(for: request, rules: rules, at: now).map { cookies[$0] }
    }

    /// Sets the time of last use of the cookies that a request has sent.
    mutating func markUsed(by request: Request, rules: CookieRules, at now: Date) {
        for index in indices(for: request, rules: rules, at: now) { cookies[index].lastAccessed = now }
    }

    private func indices(for request: Request, rules: CookieRules, at now: Date) -> [Int] {
        let isSameSite = request.isSameSite(rules)
        let found = cookies.indices.filter { index in
            let cookie = cookies[index]
            guard cookie.isHostOnly ? cookie.domain == request.host : CookieDomain.matches(request.host, cookie.domain)
            else { return false }
            guard CookieDomain.pathMatches(request.path, cookie.path) else { return false }
            guard !cookie.isSecure || request.isSecure else { return false }
            // The list may have changed since the cookie was stored.
            guard cookie.isHostOnly || !rules.isPublicSuffix(cookie.domain) else { return false }
            guard cookie.fitsInField, !cookie.isExpired(at: now) else { return false }
            switch cookie.sameSite {
            case .strict: return isSameSite
            case .lax, nil: return isSameSite || request.isSafe
            case .unrestricted: return true
            }
        }
        let sorted = found.sorted { left, right in
            let (left, right) = (cookies[left], cookies[right])
            let (leftLength, rightLength) = (left.path.utf8.count, right.path.utf8.count)
            return (rightLength, left.created, left.order) < (leftLength, right.created, right.order)
        }
        var byteCount = 0
        let sent = sorted.prefix { index in
            byteCount += cookies[index].fieldByteCount
            return byteCount <= Self.fieldByteCount
        }
        return Array(sent)
    }
}

extension CookieJar.Request {
    /// Whether the request goes to the site of the call's first request, with the same scheme.
    ///
    /// Source: RFC 6265bis §5.2, https://html.spec.whatwg.org/#same-site
    fileprivate func isSameSite(_ rules: CookieRules) -> Bool {
        guard hasFirstScheme else { return false }
        guard host != firstHost else { return true }
        guard let site = rules.publicSuffixes?.registrableDomain(of: host) else {
            return rules.sharedDomains.contains {
                CookieDomain.matches(host, $0) && CookieDomain.matches(firstHost, $0)
            }
        }
        return site == rules.publicSuffixes?.registrableDomain(of: firstHost)
    }
}

extension CookieJar.Cookie {
    /// The bytes in a Cookie field, with the separator after the cookie.
    fileprivate var fieldByteCount: Int { name.utf8.count + value.utf8.count + "=; ".utf8.count }

    /// Whether a Cookie field can hold the cookie, which an imported cookie may not allow.
    var fitsInField: Bool {
        guard !name.utf8.contains(UInt8(ascii: "=")), !name.isEmpty || !value.isEmpty else { return false }
        return [name, value].allSatisfy { text in
            let isBlank: (UInt8?) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            return !isBlank(text.utf8.first) && !isBlank(text.utf8.last)
                && text.utf8.allSatisfy { ($0 >= 0x20 || $0 == 0x09) && $0 != 0x7F && $0 != UInt8(ascii: ";") }
        }
    }
}

extension Sequence<CookieJar.Cookie> {
    /// The value of a Cookie field with these cookies; `nil` if there are none.
    public var fieldValue: String? {
        let pairs = map { $0.name.isEmpty ? $0.value : "\($0.name)=\($0.value)" }
        return pairs.isEmpty ? nil : pairs.joined(separator: "; ")
    }
}
