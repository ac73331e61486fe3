import Foundation

/// The content of a cookie file, in the form in which it is encoded as JSON.
struct CookieFileContent: Codable, Equatable {
    struct Header: Codable, Equatable {
        var format = "pipeline-cookies"
        var version = 1
    }

    private var header = Header()
    private var accounts: [String: [CookieJar.Cookie]]

    /// Creates the content for the cookies that are to be kept; accounts without any are left out.
    init(_ jars: [String: CookieJar], where isKept: (CookieJar.Cookie) -> Bool) {
        accounts = jars.compactMapValues { jar in
            let cookies = jar.cookies.filter(isKept)
            return cookies.isEmpty ? nil : cookies
        }
    }

    /// Returns whether the cookies are the same, whenever they were used last.
    ///
    /// A server that sets the same cookie in each response does not cause a write each time.
    func hasSameCookies(as other: CookieFileContent) -> Bool {
        func unused(_ accounts: [String: [CookieJar.Cookie]]) -> [String: [CookieJar.Cookie]] {
            accounts.mapValues { $0.map(\.unused) }
        }
        return unused(accounts) == unused(other.accounts)
    }

    // MARK: JSON

    func data(path: String) throws(CookieStoreError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
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

    /// Returns the jars in the bytes of a file.
    ///
    /// A file without bytes has no cookies, because it may have been created to be filled later.
    static func jars(from data: Data, path: String) throws(CookieStoreError) -> [String: CookieJar] {
        if data.isEmpty { return [:] }
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        guard let content = try? decoder.decode(Self.self, from: data), content.header == Header(),
            content.accounts.values.joined().allSatisfy({ CookieJar.orders.contains($0.order) })
        else { throw CookieStoreError(.malformed, path: path) }
        return content.accounts.mapValues { cookies in
            var jar = CookieJar()
            jar.cookies = cookies
            jar.nextOrder = (cookies.map(\.order).max() ?? -1) + 1
            return jar
        }
    }
}

extension CookieJar.Cookie {
    /// The cookie as if it had not been used since it was created.
    var unused: Self {
        var cookie = self
        cookie.lastAccessed = created
        return cookie
    }
}
