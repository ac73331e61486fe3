public import Foundation

/// Netscape cookie files, which curl, wget, yt-dlp and browser extensions write and read (`cookies.txt`).
///
/// Each line has seven fields separated by tabs: domain, whether subdomains are included, path, whether the cookie is
/// secure, expiry in seconds since 1970 or 0 for a cookie of the session, name, value. A line of a cookie that is
/// hidden from scripts begins with `#HttpOnly_`; other lines that begin with `#`, and blank lines, are comments.
///
/// Source: https://curl.se/docs/http-cookies.html
extension CookieJar {
    /// Creates a jar with the cookies of a Netscape cookie file.
    ///
    /// Expired cookies are left out. The format has no SameSite and no dates of creation and access: the cookies count
    /// as created at `now`. A line without its last field is a cookie with an empty value, and one with an empty name
    /// field is a cookie without a name. Spaces around names and values are removed. Lines may end in CRLF. Cookies are
    /// left out and removed as by ``insert(_:rules:)``.
    ///
    /// ```swift
    /// let imported = try CookieJar(netscape: String(contentsOf: file, encoding: .utf8), at: .now)
    /// try await store.update(account: "") { $0.insert(imported.cookies) }
    /// ```
    ///
    /// - Parameters:
    ///   - text: the text of the file.
    ///   - rules: the bounds of the jar.
    ///   - now: the current time.
    /// - Throws: ``ImportError`` for the first malformed line.
    public init(netscape text: String, rules: CookieRules = CookieRules(), at now: Date) throws(ImportError) {
        self.init()
        var cookies: [Cookie] = []
        let lines = text.trimmingPrefix("\u{FEFF}").utf8.split(
            separator: UInt8(ascii: "\n"),
            omittingEmptySubsequences: false
        )
        for (index, bytes) in lines.enumerated() {
            var line = Substring(bytes)
            if line.utf8.last == UInt8(ascii: "\r") { line = Substring(line.utf8.dropLast()) }
            do throws(ImportError.Reason) {
                guard let cookie = try Cookie(netscape: line, at: now), !cookie.isExpired(at: now) else { continue }
                cookies.append(cookie)
            } catch {
                throw ImportError(line: index + 1, reason: error)
            }
        }
        insert(cookies, rules: rules)
    }

    /// Returns the cookies as the text of a Netscape cookie file, for example for `curl --cookie`.
    ///
    /// Expiry is rounded down to whole seconds; SameSite, creation and access are lost. Cookies that the format cannot
    /// express, such as those whose value contains a tab, are left out, as are those that a Cookie field cannot hold.
    /// curl does not understand cookies without a name.
    ///
    /// **Secrets**: the text contains the values; write it only to a file that other users cannot read.
    public func netscapeText() -> String {
        "# Netscape HTTP Cookie File\n\n" + cookies.compactMap(\.netscapeLine).map { $0 + "\n" }.joined()
    }
}

extension CookieJar.Cookie {
    private static let httpOnlyPrefix = "#HttpOnly_"

    /// Creates the cookie of a line; returns `nil` for a comment and for a blank line.
    fileprivate init?(netscape line: Substring, at now: Date) throws(CookieJar.ImportError.Reason) {
        let isHTTPOnly = line.hasPrefix(Self.httpOnlyPrefix)
        if line.allSatisfy({ $0 == " " || $0 == "\t" }) || (line.hasPrefix("#") && !isHTTPOnly) { return nil }
        let rest = isHTTPOnly ? line.dropFirst(Self.httpOnlyPrefix.count) : line
        var fields = rest.utf8.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
            .map(Substring.init)
        // Files of old browsers may lack the path, as curl's reader knows.
        if fields.count > 2, Self.flag(fields[2]) != nil { fields.insert("/", at: 2) }
        if fields.count == 6 { fields.append("") }
        guard fields.count == 7 else { throw .fieldCount }
        guard let includesSubdomains = Self.flag(fields[1]), let isSecure = Self.flag(fields[3]) else { throw .flag }
        // Python writes no number for cookies of the session.
        let seconds = fields[4].isEmpty ? 0 : Double(fields[4])
        guard let seconds, seconds.isFinite else { throw .expiry }
        let (name, value) = (String(fields[5].trimmed), String(fields[6].trimmed))
        self.init(
            name,
            value,
            domain: String(fields[0]),
            isHostOnly: !includesSubdomains,
            path: String(fields[2]),
            expiry: seconds == 0 ? nil : Date(timeIntervalSince1970: seconds),
            isSecure: isSecure,
            isHTTPOnly: isHTTPOnly,
            created: now
        )
        guard !domain.isEmpty else { throw .domain }
        guard fitsInField, isNetscapeText else { throw .character }
    }

    private static func flag(_ text: Substring) -> Bool? {
        switch text.uppercased() {
        case "TRUE": true
        case "FALSE": false
        default: nil
        }
    }

    /// The line of the cookie; `nil` if the format cannot express it.
    fileprivate var netscapeLine: String? {
        guard fitsInField, isNetscapeText else { return nil }
        // 0 means none. The maximum is the end of the year 9999.
        let seconds = expiry.map { Int(min(max(1, $0.timeIntervalSince1970.rounded(.down)), 253_402_300_799)) } ?? 0
        let fields = [
            (isHTTPOnly ? Self.httpOnlyPrefix : "") + (isHostOnly ? "" : ".") + domain.filter { !"[]".contains($0) },
            isHostOnly ? "FALSE" : "TRUE",
            path,
            isSecure ? "TRUE" : "FALSE",
            String(seconds),
            name,
            value,
        ]
        return fields.joined(separator: "\t")
    }

    /// Whether no text contains a control character, such as a tab or a line break.
    private var isNetscapeText: Bool {
        [domain, path, name, value].allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f } }
    }
}
