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
        let site = rules.site(of: newest)
        let ofSite = cookies.indices.filter { CookieDomain.matches(cookies[$0].domain, site) }
        remove(excess(of: ofSite, over: rules.siteBound, first: Self.goesBefore))
        remove(excess(of: Array(cookies.indices), over: rules.jarBound, first: Self.isOlder))
    }

    /// Does the same for all sites at once.
    mutating func evict(_ rules: CookieRules) {
        var sites: [String: String] = [:]
        let places = Dictionary(grouping: cookies.indices) { index in
            let domain = cookies[index].domain
            let site = sites[domain] ?? rules.site(of: domain)
            sites[domain] = site
            return site
        }
        remove(places.values.flatMap { excess(of: $0, over: rules.siteBound, first: Self.goesBefore) })
        remove(excess(of: Array(cookies.indices), over: rules.jarBound, first: Self.isOlder))
    }

    private static func goesBefore(_ left: Cookie, _ right: Cookie) -> Bool {
        left.isSecure == right.isSecure ? isOlder(left, right) : right.isSecure
    }

    private static func isOlder(_ left: Cookie, _ right: Cookie) -> Bool {
        (left.lastAccessed, left.order) < (right.lastAccessed, right.order)
    }

    /// Returns the cookies that go so that the others are within a bound.
    private func excess(
        of candidates: [Int],
        over bound: CookieRules.Bound,
        first isBefore: (Cookie, Cookie) -> Bool
    ) -> [Int] {
        var (count, byteCount) = (candidates.count, candidates.reduce(0) { $0 + cookies[$1].byteCount })
        guard count > bound.count || byteCount > bound.byteCount else { return [] }
        // One cookie too many needs no order of the others.
        let first = candidates.min { isBefore(cookies[$0], cookies[$1]) }
        if let first, count - 1 <= bound.count, byteCount - cookies[first].byteCount <= bound.byteCount {
            return [first]
        }
        return Array(
            candidates.sorted { isBefore(cookies[$0], cookies[$1]) }.prefix { index in
                defer { (count, byteCount) = (count - 1, byteCount - cookies[index].byteCount) }
                return count > bound.count || byteCount > bound.byteCount
            }
        )
    }

    private mutating func remove(_ places: [Int]) {
        guard !places.isEmpty else { return }
        let removed = Set(places)
        cookies = cookies.indices.filter { !removed.contains($0) }.map { cookies[$0] }
    }
}

extension CookieJar.Cookie {
    fileprivate var byteCount: Int { name.utf8.count + value.utf8.count + domain.utf8.count + path.utf8.count }

    /// Whether a Set-Cookie field could set the cookie.
    var isOfStorableSize: Bool {
        name.utf8.count + value.utf8.count <= SetCookieField.pairByteCount
            && domain.utf8.count <= SetCookieField.attributeByteCount
            && path.utf8.count <= SetCookieField.attributeByteCount
    }
}
