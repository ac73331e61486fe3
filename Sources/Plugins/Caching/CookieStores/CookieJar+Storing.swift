public import Foundation

extension CookieJar {
    /// Stores the cookies of a response's Set-Cookie fields.
    ///
    /// A cookie replaces the one that it renews, or removes the one that it expires. Fields that RFC 6265bis refuses
    /// are ignored. Also marks the cookies that were sent with the request as used, and removes every cookie that has
    /// expired.
    ///
    /// - Parameters:
    ///   - fields: the values of the Set-Cookie fields, in their order.
    ///   - request: the request whose response has the fields.
    ///   - rules: what the jar accepts.
    ///   - now: the current time.
    ///
    /// Source: RFC 6265bis §5.7
    public mutating func store(_ fields: [String], from request: Request, rules: CookieRules, at now: Date) {
        cookies.removeAll { $0.isExpired(at: now) }
        markUsed(by: request, rules: rules, at: now)
        for field in fields { try? accept(SetCookieField(field), from: request, rules: rules, at: now) }
    }

    /// Why a jar ignored a Set-Cookie field.
    enum Refusal: String, Error {
        /// The field contains a control character.
        case controlCharacter
        /// The field has neither a name nor a value.
        case empty
        /// The name and the value are longer than 4096 bytes.
        case tooLarge
        /// The domain is not the host's, or not in ASCII.
        case otherDomain
        /// The domain is a public suffix, such as `co.uk`.
        case publicSuffix
        /// The cookie is secure, or needs to be, and the connection or the cookie is not.
        case notSecure
        /// A secure cookie of the same name exists, and the connection is not secure.
        case secureCookieExists
        /// The name begins with a prefix, such as `__Host-`, whose conditions the cookie does not meet.
        case prefix
    }

    /// Stores the cookie of one parsed field; throws the reason why it is ignored.
    mutating func accept(
        _ field: SetCookieField,
        from request: Request,
        rules: CookieRules,
        at now: Date
    ) throws(Refusal) {
        let cookie = try Self.cookie(field, from: request, rules: rules, at: now)
        cookies.removeAll { $0.isExpired(at: now) }
        if !request.isSecure, hidesSecureCookie(cookie) { throw .secureCookieExists }
        place(cookie, isSecure: request.isSecure, at: now)
        evict(rules, newest: cookie.domain)
    }

    private static func cookie(
        _ field: SetCookieField,
        from request: Request,
        rules: CookieRules,
        at now: Date
    ) throws(Refusal) -> Cookie {
        let domain = try sharedDomain(field.domain, of: request.host, rules)
        var cookie = Cookie(
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
        if domain == nil, rules.publicSuffixes == nil, !field.domain.isEmpty {
            cookie.domainAttribute = field.domain.lowercased()
        }
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
        guard needsHost || shown.starts(with: "__secure-".utf8) else { return true }
        guard !cookie.name.isEmpty, cookie.isSecure else { return false }
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

    /// Removes the cookies that would be one cookie, shared by the hosts that set them, if the suffixes were known.
    ///
    /// As with a shared cookie, an unencrypted connection does not remove secure ones.
    private mutating func removeWithDomainAttribute(of cookie: Cookie, isSecure: Bool) {
        cookies.removeAll {
            $0.domainAttribute == cookie.domainAttribute && $0.hasNameAndPath(of: cookie) && (isSecure || !$0.isSecure)
        }
    }

    private mutating func place(_ cookie: Cookie, isSecure: Bool, at now: Date) {
        let old = cookies.firstIndex { $0.isSame(as: cookie) }
        guard !cookie.isExpired(at: now) else {
            if let old { cookies.remove(at: old) }
            if cookie.domainAttribute != nil { removeWithDomainAttribute(of: cookie, isSecure: isSecure) }
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
