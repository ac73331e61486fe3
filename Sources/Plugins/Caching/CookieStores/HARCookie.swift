import Foundation

/// A cookie as an element of the HAR array `cookies`.
///
/// Source: HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/#cookies
struct HARCookie: Codable {
    typealias Lenient = HARCookies.Lenient

    private var name: String
    private var value: String
    private var path: Lenient<String>?
    private var domain: Lenient<String>?
    private var expires: Lenient<String>?
    private var httpOnly: Lenient<Bool>?
    private var secure: Lenient<Bool>?
    /// An addition of all writers.
    private var sameSite: Lenient<String>?

    private static let dateFormat = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    /// The end of the year 9999.
    private static let lastSecond = 253_402_300_799.0

    init(_ cookie: CookieJar.Cookie) {
        name = cookie.name
        value = cookie.value
        path = .init(cookie.path)
        domain = .init((cookie.isHostOnly ? "" : ".") + cookie.domain)
        expires = cookie.expiry.map { expiry in
            let seconds = min(max(0, expiry.timeIntervalSince1970), Self.lastSecond)
            return .init(Date(timeIntervalSince1970: seconds).formatted(Self.dateFormat))
        }
        httpOnly = .init(cookie.isHTTPOnly)
        secure = .init(cookie.isSecure)
        sameSite = cookie.sameSite.map { .init($0.rawValue.capitalized) }
    }

    /// The Set-Cookie field of the cookie; `nil` if no field can have its name and value.
    var field: SetCookieField? {
        guard var field = try? SetCookieField("\(name)=\(value)"), field.name == name, field.value == value else {
            return nil
        }
        field.path = path?.value.flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 : nil }
        field.domain = domain?.value.map { String($0.hasPrefix(".") ? $0.dropFirst() : $0[...]) } ?? ""
        field.expires = expiry
        field.isHTTPOnly = httpOnly?.value ?? false
        field.isSecure = secure?.value ?? false
        field.sameSite = site
        return field
    }

    /// Returns the cookie with the domain that it names; `nil` if a jar cannot keep it.
    func cookie(at now: Date) -> CookieJar.Cookie? {
        let cookie = CookieJar.Cookie(
            name,
            value,
            domain: domain?.value ?? "",
            isHostOnly: domain?.value?.hasPrefix(".") != true,
            path: path?.value ?? "/",
            expiry: expiry,
            isSecure: secure?.value ?? false,
            isHTTPOnly: httpOnly?.value ?? false,
            sameSite: site,
            created: now
        )
        return cookie.domain.isEmpty || !cookie.fitsInField ? nil : cookie
    }

    private var site: CookieJar.Cookie.SameSite? { (sameSite?.value?.lowercased()).flatMap { .init(rawValue: $0) } }

    /// The date, which some writers copy from the attribute Expires.
    private var expiry: Date? { (expires?.value).flatMap { Self.date($0) ?? CookieDate.date(in: $0) } }

    /// Returns the date of a text in ISO 8601 with a time zone, to the millisecond; `nil` for other texts.
    static func date(_ text: String) -> Date? {
        guard let date = try? dateFormat.parse(text) else { return nil }
        return Date(timeIntervalSince1970: (date.timeIntervalSince1970 * 1_000).rounded() / 1_000)
    }
}
