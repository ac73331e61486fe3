public import Foundation

extension CookieJar {
    /// Stores the cookie of a Set-Cookie field, replaces the one that it renews, or removes the one that it expires.
    ///
    /// Also removes every cookie that has expired.
    ///
    /// - Parameters:
    ///   - field: the value of one Set-Cookie field.
    ///   - request: the request whose response has the field.
    ///   - rules: what the jar accepts.
    ///   - now: the current time.
    /// - Returns: why the field is ignored; `nil` if it is not.
    ///
    /// Source: RFC 6265bis §5.7
    @discardableResult
    public mutating func store(_ field: String, from request: Request, rules: CookieRules, at now: Date) -> Refusal? {
        do {
            let field = try SetCookieField(field)
            let cookie = try Self.cookie(field, from: request, rules: rules, at: now)
            cookies.removeAll { $0.isExpired(at: now) }
            if !request.isSecure, hidesSecureCookie(cookie) { return .secureCookieExists }
            place(cookie, at: now)
            evict(rules, newest: cookie.domain)
            return nil
        } catch {
            return error
        }
    }

    private static func cookie(
        _ field: SetCookieField,
        from request: Request,
        rules: CookieRules,
        at now: Date
    ) throws(Refusal) -> Cookie {
        let domain = try sharedDomain(field.domain, of: request.host, rules)
        let cookie = Cookie(
            field.name,
            field.value,
            domain: domain ?? request.host,
            isHostOnly: domain == nil,
            path: field.path ?? CookieDomain.defaultPath(request.path),
            expiry: field.expiry(at: now),
            isSecure: field.isSecure,
            isHTTPOnly: field.isHTTPOnly,
            sameSite: field.sameSite,
            created: now
        )
        if cookie.isSecure, !request.isSecure { throw .notSecure }
        if cookie.sameSite == .unrestricted, !cookie.isSecure { throw .notSecure }
        guard hasPrefixOfItsKind(cookie, hasPath: field.path != nil) else { throw .prefix }
        return cookie
    }

    /// Returns the domain whose subdomains get the cookie; `nil` if only the host gets it.
    private static func sharedDomain(
        _ domain: String,
        of host: String,
        _ rules: CookieRules
    ) throws(Refusal) -> String? {
        guard !domain.isEmpty else { return nil }
        // Before it becomes lower case, which makes the Kelvin sign a K.
        guard domain.utf8.allSatisfy({ $0 < 0x80 }) else { throw .otherDomain }
        let domain = domain.lowercased()
        if rules.isPublicSuffix(domain) {
            guard domain == host else { throw .publicSuffix }
            return nil
        }
        guard CookieDomain.matches(host, domain) else { throw .otherDomain }
        if Punycode.isIPAddress(host) { return nil }
        return rules.publicSuffixes == nil && !rules.sharedDomains.contains(domain) ? nil : domain
    }

    /// Returns whether the cookie meets the conditions of the prefix that its name has.
    ///
    /// A cookie without a name must not have a value that a server could take for such a name.
    private static func hasPrefixOfItsKind(_ cookie: Cookie, hasPath: Bool) -> Bool {
        // Bytes, because the last character of the prefix may have a combining mark.
        let shown = (cookie.name.isEmpty ? cookie.value : cookie.name).lowercased().utf8
        let needsHost = shown.starts(with: "__host-".utf8)
        let needsHTTPOnly = shown.starts(with: "__http-".utf8) || shown.starts(with: "__host-http-".utf8)
        guard needsHost || needsHTTPOnly || shown.starts(with: "__secure-".utf8) else { return true }
        guard !cookie.name.isEmpty, cookie.isSecure else { return false }
        if needsHTTPOnly, !cookie.isHTTPOnly { return false }
        return !needsHost || cookie.isHostOnly && hasPath && cookie.path == "/"
    }

    /// Returns whether the jar has a secure cookie that a cookie of an unencrypted connection would hide.
    private func hidesSecureCookie(_ cookie: Cookie) -> Bool {
        !cookie.isSecure
            && cookies.contains {
                $0.isSecure && $0.hasName(of: cookie)
                    && (CookieDomain.matches($0.domain, cookie.domain)
                        || CookieDomain.matches(cookie.domain, $0.domain))
                    && CookieDomain.pathMatches(cookie.path, $0.path)
            }
    }

    private mutating func place(_ cookie: Cookie, at now: Date) {
        let old = cookies.firstIndex { $0.isSame(as: cookie) }
        guard !cookie.isExpired(at: now) else {
            if let old { cookies.remove(at: old) }
            return
        }
        var cookie = cookie
        if let old {
            // A renewed cookie keeps its position among those of equal paths.
            cookie.created = cookies[old].created
            cookie.order = cookies[old].order
            cookies[old] = cookie
        } else {
            cookie.order = nextOrder
            nextOrder += 1
            cookies.append(cookie)
        }
    }
}
