extension CookieJar {
    /// Removes cookies until the jar is within its bounds.
    ///
    /// Those of a domain with too many are removed first (not secure ones first), then any. Of several, the one goes
    /// whose last use is longest ago. Expired ones are removed before.
    ///
    /// - Parameters:
    ///   - rules: the bounds.
    ///   - newest: the domain that just got a cookie; no other can have too many.
    ///
    /// Source: RFC 6265bis §5.7
    mutating func evict(_ rules: CookieRules, newest: String) {
        let ofDomain = cookies.indices.filter { cookies[$0].domain == newest }
        remove(ofDomain.count - rules.cookiesPerDomain, of: ofDomain) { left, right in
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
