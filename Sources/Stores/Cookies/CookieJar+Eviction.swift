extension CookieJar {
    /// Removes cookies until the jar is within its bounds.
    ///
    /// Those of a site with too many are removed first (not secure ones first), then any. Of several, the one goes
    /// whose last use is longest ago. Expired ones are removed before. A site is a registrable domain with its
    /// subdomains, so that no site can crowd out the others with many subdomains.
    ///
    /// - Parameters:
    ///   - rules: the bounds.
    ///   - newest: the domain that just got a cookie; no other site can have too many.
    ///
    /// Source: RFC 6265bis §5.7
    mutating func evict(_ rules: CookieRules, newest: String) {
        let site = rules.publicSuffixes?.registrableDomain(of: newest) ?? newest
        let ofSite = cookies.indices.filter { CookieDomain.matches(cookies[$0].domain, site) }
        remove(ofSite.count - rules.cookiesPerDomain, of: ofSite) { left, right in
            left.isSecure == right.isSecure ? Self.isOlder(left, right) : right.isSecure
        }
        remove(cookies.count - rules.cookieCount, of: Array(cookies.indices), first: Self.isOlder)
    }

    private static func isOlder(_ left: Cookie, _ right: Cookie) -> Bool {
        (left.lastAccessed, left.order) < (right.lastAccessed, right.order)
    }

    private mutating func remove(_ count: Int, of candidates: [Int], first isBefore: (Cookie, Cookie) -> Bool) {
        guard count > 0 else { return }
        let removed = candidates.sorted { isBefore(cookies[$0], cookies[$1]) }.prefix(count)
        for index in removed.sorted(by: >) { cookies.remove(at: index) }
    }
}
