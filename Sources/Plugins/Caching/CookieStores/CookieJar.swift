public import PipelineCore

/// The cookies of one account.
///
/// A jar is a value: keep it in a ``CookieStore`` to share it between calls, and read or change it there.
///
/// ```swift
/// try await store.update(account: "") { jar in
///     jar.removeAll { $0.domain == "shop.example" }
/// }
/// ```
///
/// A store of your own can encode a jar. Properties that a later version adds are optional in the encoded form. A
/// decoded jar is within the bounds of ``CookieRules``, with each host as a site, whatever the encoded form contains.
///
/// **Secrets**: descriptions show the number of cookies, never a value. The encoded form contains the values.
///
/// Source: RFC 6265bis §5, https://www.rfc-editor.org/info/draft-ietf-httpbis-rfc6265bis
public struct CookieJar: Sendable, Equatable, Codable {
    /// The cookies, in the order in which they were created.
    public internal(set) var cookies: [Cookie] = []

    /// The position in the order of creation for the next cookie.
    ///
    /// Dates alone do not order cookies that one response sets.
    var nextOrder = 0

    /// Creates a jar without cookies.
    public init() {}

    /// Adds cookies that no response set, such as imported ones.
    ///
    /// Each replaces a cookie with its name, domain and path. Left out are cookies with an empty ``Cookie/domain``,
    /// those whose name and value have more than 4096 bytes together, and those whose domain or path has more than 1024
    /// bytes. A cookie whose domain is a public suffix, such as `localhost`, is kept for that host only.
    ///
    /// If the jar then exceeds the bounds of ``CookieRules``, cookies are removed as they are when a response sets one.
    ///
    /// - Parameters:
    ///   - added: the cookies.
    ///   - rules: the bounds and the public suffixes, by which cookies belong to a site.
    public mutating func insert(_ added: some Sequence<Cookie>, rules: CookieRules = CookieRules()) {
        var places = Dictionary(
            cookies.indices.map { (cookies[$0].identity, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        for var cookie in added where !cookie.domain.isEmpty && cookie.isOfStorableSize {
            if rules.isPublicSuffix(cookie.domain) { cookie.isHostOnly = true }
            if let index = places[cookie.identity] {
                cookie.order = cookies[index].order
                cookies[index] = cookie
            } else {
                places[cookie.identity] = cookies.endIndex
                cookie.order = nextOrder
                nextOrder += 1
                cookies.append(cookie)
            }
        }
        evict(rules)
    }

    /// Removes the cookies for which a closure returns `true`; all by default.
    public mutating func removeAll(where isRemoved: (Cookie) -> Bool = { _ in true }) {
        cookies.removeAll(where: isRemoved)
    }
}

extension CookieJar {
    private enum CodingKeys: CodingKey { case cookies, nextOrder }

    /// The positions that leave room for later ones.
    static let orders = 0..<1 << 52

    /// Decodes a jar, without the cookies that no jar keeps.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let decoded = try container.decode([Cookie].self, forKey: .cookies).map(\.normalized)
        insert(decoded, rules: CookieRules(publicSuffixes: nil))
        // The encoded positions are those of a jar if they increase.
        let places = Dictionary(decoded.map { ($0.identity, $0.order) }, uniquingKeysWith: { first, _ in first })
        let orders = cookies.map { places[$0.identity] ?? -1 }
        let next = try container.decode(Int.self, forKey: .nextOrder)
        guard zip(orders, orders.dropFirst()).allSatisfy({ $0 < $1 }), Self.orders.contains(orders.first ?? 0),
            Self.orders.contains(next), next > orders.last ?? -1
        else { return }
        for index in cookies.indices { cookies[index].order = orders[index] }
        nextOrder = next
    }
}

extension CookieJar.Cookie {
    /// A decoded cookie with the domain and the path in the form that ``CookieJar/Cookie`` guarantees.
    fileprivate var normalized: Self {
        var cookie = self
        cookie.domain = CookieDomain.normalized(domain)
        if path.utf8.first != UInt8(ascii: "/") { cookie.path = "/" }
        return cookie
    }
}

extension CookieJar: SafelyDescribed {
    /// The number of cookies.
    public var description: String { "\(cookies.count) cookies" }
}
