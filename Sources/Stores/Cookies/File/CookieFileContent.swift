import Foundation

/// The content of a cookie file, in the form in which it is encoded as JSON.
struct CookieFileContent: Codable, Equatable {
    struct Header: Codable, Equatable {
        var format = "pipeline-cookies"
        var version = 1
    }

    struct Cookie: Codable, Equatable {
        var name: String
        var value: String
        var domain: String
        var isHostOnly: Bool
        var path: String
        var expiry: Date?
        var isSecure: Bool
        var isHTTPOnly: Bool
        var sameSite: CookieJar.Cookie.SameSite?
        var created: Date
        var lastAccessed: Date
        var order: Int
    }

    private var header = Header()
    private var accounts: [String: [Cookie]]

    /// Creates the content for the cookies that are to be kept; accounts without any are left out.
    init(_ jars: [String: CookieJar], where isKept: (CookieJar.Cookie) -> Bool) {
        accounts = jars.compactMapValues { jar in
            let cookies = jar.cookies.filter(isKept).map(Cookie.init)
            return cookies.isEmpty ? nil : cookies
        }
    }

    /// Returns whether the cookies are the same, whenever they were used last.
    ///
    /// A server that sets the same cookie in each response does not cause a write each time.
    func hasSameCookies(as other: CookieFileContent) -> Bool {
        func unused(_ accounts: [String: [Cookie]]) -> [String: [Cookie]] {
            accounts.mapValues { cookies in
                cookies.map { cookie in
                    var cookie = cookie
                    cookie.lastAccessed = cookie.created
                    return cookie
                }
            }
        }
        return unused(accounts) == unused(other.accounts)
    }

    // MARK: JSON

    func data(path: String) throws(CookieStoreError) -> Data {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        do {
            return try encoder.encode(self)
        } catch {
            throw CookieStoreError(.notWritable, path: path)
        }
    }

    /// Returns the jars in the bytes of a file; checks the version before the rest.
    static func jars(from data: Data, path: String) throws(CookieStoreError) -> [String: CookieJar] {
        struct Beginning: Decodable { var header: Header }
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        let current = Header()
        guard let header = try? decoder.decode(Beginning.self, from: data).header, header.format == current.format
        else { throw CookieStoreError(.malformed, path: path) }
        guard header.version == current.version else { throw CookieStoreError(.unsupportedVersion, path: path) }
        guard let accounts = try? decoder.decode(Self.self, from: data).accounts,
            accounts.values.joined().allSatisfy({ orders.contains($0.order) })
        else { throw CookieStoreError(.malformed, path: path) }
        return accounts.mapValues { cookies in
            var jar = CookieJar()
            jar.cookies = cookies.map(\.cookie)
            jar.nextOrder = (cookies.map(\.order).max() ?? -1) + 1
            return jar
        }
    }

    /// The positions that leave room for later ones.
    private static let orders = 0..<1 << 53
}

extension CookieFileContent.Cookie {
    fileprivate init(_ cookie: CookieJar.Cookie) {
        name = cookie.name
        value = cookie.value
        domain = cookie.domain
        isHostOnly = cookie.isHostOnly
        path = cookie.path
        expiry = cookie.expiry
        isSecure = cookie.isSecure
        isHTTPOnly = cookie.isHTTPOnly
        sameSite = cookie.sameSite
        created = cookie.created
        lastAccessed = cookie.lastAccessed
        order = cookie.order
    }

    fileprivate var cookie: CookieJar.Cookie {
        var cookie = CookieJar.Cookie(
            name,
            value,
            domain: domain,
            isHostOnly: isHostOnly,
            path: path,
            expiry: expiry,
            isSecure: isSecure,
            isHTTPOnly: isHTTPOnly,
            sameSite: sameSite,
            created: created
        )
        cookie.lastAccessed = lastAccessed
        cookie.order = order
        return cookie
    }
}
