import Foundation

/// The value of a Set-Cookie field, parsed.
///
/// Source: RFC 6265bis §5.6
struct SetCookieField {
    /// The bytes that a name and a value may have together.
    static let pairByteCount = 4096
    /// The bytes that the value of an attribute may have; longer attributes are ignored.
    static let attributeByteCount = 1024
    /// The longest time that a cookie is kept.
    static let longestAge: TimeInterval = 400 * 24 * 60 * 60

    var name = ""
    var value = ""
    var expires: Date?
    var maxAge: TimeInterval?
    /// The domain without a leading dot; empty if the field has none.
    var domain = ""
    /// `nil` if the field has no Path attribute that begins with a slash.
    var path: String?
    var isSecure = false
    var isHTTPOnly = false
    var sameSite: CookieJar.Cookie.SameSite?

    /// Parses a field; throws the reason why it is ignored.
    init(_ text: String) throws(CookieJar.Refusal) {
        guard !text.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else { throw .controlCharacter }
        // Bytes, because a combining mark would hide the delimiter before it.
        let parts = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map(Substring.init)
        let (first, second) = Self.sides(parts[0])
        (name, value) = second.map { (first, $0) } ?? ("", first)
        guard !name.isEmpty || !value.isEmpty else { throw .empty }
        guard name.utf8.count + value.utf8.count <= Self.pairByteCount else { throw .tooLarge }
        for part in parts.dropFirst() { read(part) }
    }

    /// Returns what is before and after the first equals sign, without whitespace around; `nil` if there is none.
    private static func sides(_ text: Substring) -> (String, String?) {
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return (String(text.trimmed), nil) }
        return (String(text[..<equals].trimmed), String(text[text.utf8.index(after: equals)...].trimmed))
    }

    private mutating func read(_ attribute: Substring) {
        let (name, assigned) = Self.sides(attribute)
        let value = assigned ?? ""
        guard value.utf8.count <= Self.attributeByteCount else { return }
        switch name.lowercased() {
        case "expires": expires = CookieDate.date(in: value) ?? expires
        case "max-age": maxAge = Self.seconds(value) ?? maxAge
        case "domain": domain = value.hasPrefix(".") ? String(value.dropFirst()) : value
        case "path": path = value.utf8.first == UInt8(ascii: "/") ? value : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite": sameSite = .init(rawValue: value.lowercased())
        default: break
        }
    }

    /// Returns when the cookie expires: Max-Age before Expires, and at most 400 days from now.
    func expiry(at now: Date) -> Date? {
        let asked = maxAge.map { $0 > 0 ? now.addingTimeInterval($0) : .distantPast } ?? expires
        return asked.map { min($0, now.addingTimeInterval(Self.longestAge)) }
    }

    private static func seconds(_ text: String) -> TimeInterval? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        guard !text.hasPrefix("-") else { return 0 }
        return min(TimeInterval(digits) ?? longestAge, longestAge)
    }
}
