public import Foundation

/// Cookies in HAR 1.2, which browsers and proxies write and read.
///
/// Source: HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/#cookies
extension CookieJar {
    /// Creates a jar with the cookies that the responses of a HAR file have set, or with those of ``harText()``.
    ///
    /// The responses are taken in the order of `startedDateTime`, and their cookies are stored as if they arrived at
    /// that time: later ones replace or remove earlier ones, and those that `rules` refuse are left out, as are those
    /// that have expired by `now`. A Set-Cookie field takes precedence over the array `cookies` of its response, which
    /// lacks details in files of many writers. Values with the word REDACTED or redacted are not cookies. Malformed
    /// entries are skipped, as are responses with more than 1,000 header fields or cookies. Request cookies are not
    /// read, because their domain and expiry are unknown.
    ///
    /// ```swift
    /// let imported = try CookieJar(har: Data(contentsOf: file), at: .now)
    /// try await store.update(account: "") { $0.insert(imported.cookies) }
    /// ```
    ///
    /// - Parameters:
    ///   - data: a HAR file, or a JSON array of cookies; at most 256 MiB.
    ///   - rules: what the jar accepts from responses, including the most cookies and bytes.
    ///   - now: the current time; also the time of entries without a date.
    /// - Throws: ``ImportError``.
    public init(har data: Data, rules: CookieRules = CookieRules(), at now: Date) throws(ImportError) {
        guard data.count <= 256 << 20 else { throw ImportError(reason: .size) }
        self.init()
        let decoder = JSONDecoder()
        if let file = try? decoder.decode(HARCookies.File.self, from: data) {
            for response in file.responses(at: now) { store(response, rules: rules) }
            cookies.removeAll { $0.isExpired(at: now) }
            return
        }
        guard let list = try? decoder.decode([HARCookies.Lenient<HARCookie>].self, from: data) else {
            throw ImportError(reason: .content)
        }
        var found: [Cookie] = []
        for (index, element) in list.enumerated() {
            guard let cookie = element.value?.cookie(at: now) else { throw ImportError(index: index, reason: .cookie) }
            if !cookie.isExpired(at: now) { found.append(cookie) }
        }
        insert(found, rules: rules)
    }

    private mutating func store(_ response: HARCookies.Response, rules: CookieRules) {
        for field in response.fields {
            try? accept(field, from: response.request, rules: rules, at: response.date)
        }
    }

    /// Returns the cookies as a JSON array of HAR `cookies`.
    ///
    /// Each has `name`, `value`, `path`, `domain`, `httpOnly` and `secure`, and, if it has them, `expires` in ISO 8601
    /// and `sameSite` (`Strict`, `Lax` or `None`). As in browsers, a `domain` begins with a dot if subdomains get the
    /// cookie. Creation and access are lost. Playwright's `addCookies` takes the same members, but `expires` in
    /// seconds since 1970. Cookies that a Cookie field cannot hold are left out.
    ///
    /// **Secrets**: the text contains the values; write it only to a file that other users cannot read.
    public func harText() -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Strings and flags can always be encoded.
        let data = try? encoder.encode(cookies.filter(\.fitsInField).map { HARCookie($0) })
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }
}
