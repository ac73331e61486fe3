extension CookieJar {
    /// Removes cookies until the jar is within its bounds.
    ///
    /// Those of a site that exceeds its bound are removed first (not secure ones first), then any. Of several, the one
    /// goes whose last use is longest ago. Expired ones are removed before. A site is a registrable domain with its
    /// subdomains, so that no site can crowd out the others with many subdomains.
    ///
    /// - Parameters:
    ///   - rules: the bounds.
    ///   - newest: the domain that just got a cookie; no other site can exceed its bound.
    ///
    /// Source: RFC 6265bis §5.7
    mutating func evict(_ rules: CookieRules, newest: String) {
        let site = rules.publicSuffixes?.registrableDomain(of: newest) ?? newest
        let ofSite = cookies.indices.filter { CookieDomain.matches(cookies[$0].domain, site) }
        limit(ofSite, to: rules.siteBound) { left, right in
            left.isSecure == right.isSecure ? Self.isOlder(left, right) : right.isSecure
        }
        limit(Array(cookies.indices), to: rules.jarBound, first: Self.isOlder)
    }

    private static func isOlder(_ left: Cookie, _ right: Cookie) -> Bool {
        (left.lastAccessed, left.order) < (right.lastAccessed, right.order)
    }

    private mutating func limit(
        _ candidates: [Int],
        to bound: CookieRules.Bound,
        first isBefore: (Cookie, Cookie) -> Bool
    ) {
        var (count, byteCount) = (candidates.count, candidates.reduce(0) { $0 + cookies[$1].byteCount })
        guard count > bound.count || byteCount > bound.byteCount else { return }
        let removed = candidates.sorted { isBefore(cookies[$0], cookies[$1]) }.prefix { index in
            defer { (count, byteCount) = (count - 1, byteCount - cookies[index].byteCount) }
            return count > bound.count || byteCount > bound.byteCount
        }
        for index in removed.sorted(by: >) { cookies.remove(at: index) }
    }
}

extension CookieJar.Cookie {
    fileprivate var byteCount: Int { name.utf8.count + value.utf8.count + domain.utf8.count + path.utf8.count }
}
