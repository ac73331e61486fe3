import Foundation
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("SetCookieField", .watched)
struct SetCookieFieldTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    // MARK: Names and values

    @Test(
        "RFC 6265bis §5.6: the first equals sign ends the name, and blanks around name and value are removed",
        arguments: [
            ("a=b", "a", "b"), ("a=b;", "a", "b"), ("a=b; Secure", "a", "b"), ("a=", "a", ""), ("=b", "", "b"),
            ("b", "", "b"), ("a=b=c", "a", "b=c"), ("==b", "", "=b"), ("a==", "a", "="),
            (" \t a \t = \t b \t ; Secure", "a", "b"), ("a b=c d", "a b", "c d"), ("a=b\tc", "a", "b\tc"),
            (#"a="b; Secure"#, "a", #""b"#), (#"a="b c""#, "a", #""b c""#), ("a=b%3D%00", "a", "b%3D%00"),
            ("a=b,c=d", "a", "b,c=d"), ("ä=ö", "ä", "ö"), ("a=\u{A0}b", "a", "\u{A0}b"),
        ]
    )
    func pair(text: String, name: String, value: String) throws {
        let field = try SetCookieField(text)
        #expect(field.name == name)
        #expect(field.value == value)
    }

    @Test("RFC 6265bis §5.6: delimiters are bytes, also before a combining mark, and have no equivalents")
    func delimitersAreBytes() throws {
        let equals = try SetCookieField("a=\u{301}b")
        #expect(equals.name == "a")
        #expect(equals.value == "\u{301}b")
        let semicolon = try SetCookieField("a=b;\u{301}c; Secure")
        #expect(semicolon.value == "b")
        #expect(semicolon.isSecure)
        #expect(try SetCookieField("a=b \u{301}").value == "b \u{301}")
        #expect(try SetCookieField("a= \u{301}b").value == "\u{301}b")
        #expect(try SetCookieField("a=b; Path=/\u{301}c").path == "/\u{301}c")
        // The Greek question mark is canonically equivalent to a semicolon.
        #expect(try Array(SetCookieField("a=b\u{37E}c").value.unicodeScalars) == ["b", "\u{37E}", "c"])
    }

    @Test(
        "RFC 6265bis §5.7: a field without a name and a value is refused",
        arguments: ["", " ", "=", "\t=\t", ";", ";a=b"]
    )
    func empty(text: String) {
        #expect(throws: CookieJar.Refusal.empty) { try SetCookieField(text) }
    }

    @Test(
        "RFC 6265bis §5.6: a field with a control character other than a tab is refused, wherever it is",
        arguments: Array(UInt8(0)...0x1F) + [0x7F]
    )
    func controlCharacters(byte: UInt8) throws {
        let character = String(UnicodeScalar(byte))
        for text in [
            "a\(character)=b", "a=b\(character)", "\(character)a=b", "a=b; Path=/\(character)", "a=b; c\(character)",
        ] {
            if byte == 0x09 {
                #expect(throws: Never.self) { try SetCookieField(text) }
            } else {
                #expect(throws: CookieJar.Refusal.controlCharacter) { try SetCookieField(text) }
            }
        }
    }

    @Test(
        "RFC 6265bis §5.6: the name and the value have at most 4096 bytes together",
        arguments: [(4095, true), (4096, true), (4097, false)]
    )
    func pairSize(byteCount: Int, isRead: Bool) {
        let rest = String(repeating: "x", count: byteCount - 1)
        let wide = String(repeating: "é", count: (byteCount - 1) / 2) + (byteCount % 2 == 0 ? "b" : "")
        let texts = ["a=\(rest)", "\(rest)=b", "=a\(rest)", "a\(rest)", "  a  =  \(rest)  ; Secure", "a=\(wide)"]
        for text in texts {
            if isRead {
                #expect(throws: Never.self) { try SetCookieField(text) }
            } else {
                #expect(throws: CookieJar.Refusal.tooLarge) { try SetCookieField(text) }
            }
        }
    }

    // MARK: Attributes

    @Test("RFC 6265bis §5.6: attributes are read in any case and with blanks around names and values")
    func attributes() throws {
        let text =
            "a=b;\tSECURE = 1;httponly=; DOMAIN = .Shop.TEST ;Path\t=\t/c d\t; SameSite= STRICT;max-AGE=5;;=;Other=6"
        let field = try SetCookieField(text)
        #expect(field.isSecure)
        #expect(field.isHTTPOnly)
        #expect(field.domain == "Shop.TEST")
        #expect(field.path == "/c d")
        #expect(field.sameSite == .strict)
        #expect(field.maxAge == 5)
    }

    @Test("RFC 6265bis §5.6: a field without attributes has their defaults")
    func noAttributes() throws {
        let field = try SetCookieField(
            "a=Secure; HttpOnlyX; Secur; Domains=a; XPath=/; Same-Site=Lax; MaxAge=1; Expire=0"
        )
        #expect(!field.isSecure)
        #expect(!field.isHTTPOnly)
        #expect(field.domain.isEmpty)
        #expect(field.path == nil)
        #expect(field.sameSite == nil)
        #expect(field.expiry(at: now) == nil)
    }

    @Test("RFC 6265bis §5.7: of several attributes with one name, the last counts")
    func lastAttribute() throws {
        let field = try SetCookieField(
            "a=b; Path=/a; Path=/b; Domain=a.test; Domain=b.test; SameSite=Lax; SameSite=None; Max-Age=1; Max-Age=2"
        )
        #expect(field.path == "/b")
        #expect(field.domain == "b.test")
        #expect(field.sameSite == .unrestricted)
        #expect(field.maxAge == 2)
        let cleared = try SetCookieField("a=b; Path=/a; Path=b; Domain=a.test; Domain=; SameSite=Strict; SameSite=x")
        #expect(cleared.path == nil)
        #expect(cleared.domain.isEmpty)
        #expect(cleared.sameSite == nil)
    }

    @Test(
        "RFC 6265bis §5.6: an attribute value of more than 1024 bytes is ignored, and the field is not",
        arguments: [(1023, true), (1024, true), (1025, false)]
    )
    func attributeSize(byteCount: Int, isRead: Bool) throws {
        let path = "/" + String(repeating: "x", count: byteCount - 1)
        let domain = String(repeating: "x", count: byteCount)
        let age = String(repeating: "0", count: byteCount - 1) + "5"
        let field = try SetCookieField(
            "a=b; Path=/old; Path= \(path) ; Domain=old.test; Domain=\(domain); Max-Age=1; Max-Age=\(age); Secure=\(domain)"
        )
        #expect(field.path == (isRead ? path : "/old"))
        #expect(field.domain == (isRead ? domain : "old.test"))
        #expect(field.maxAge == (isRead ? 5 : 1))
        #expect(field.isSecure == isRead)
    }

    @Test(
        "RFC 6265bis §5.6.3: the first dot of a domain is removed",
        arguments: [
            ("a.test", "a.test"), (".a.test", "a.test"), ("..a.test", ".a.test"), ("A.TEST.", "A.TEST."), (".", ""),
            ("", ""),
        ]
    )
    func domain(text: String, domain: String) throws {
        #expect(try SetCookieField("a=b; Domain=\(text)").domain == domain)
    }

    @Test(
        "RFC 6265bis §5.6.7: SameSite is read in any case, and other values count as none",
        arguments: [
            ("Strict", CookieJar.Cookie.SameSite.strict), ("LAX", .lax), ("none", .unrestricted),
            ("NonE", .unrestricted),
            ("", nil), ("unrestricted", nil), ("\"Lax\"", nil), ("Lax Strict", nil), ("default", nil),
        ]
    )
    func sameSite(text: String, value: CookieJar.Cookie.SameSite?) throws {
        #expect(try SetCookieField("a=b; SameSite=\(text)").sameSite == value)
    }

    // MARK: Expiry

    @Test(
        "RFC 6265bis §5.6.2: Max-Age is a number of seconds; zero and less expire the cookie, and 400 days are the most",
        arguments: [
            ("1", 1), ("007", 7), ("34559999", 34_559_999), ("34560000", 34_560_000), ("34560001", 34_560_000),
            ("9223372036854775808", 34_560_000), (String(repeating: "9", count: 1024), 34_560_000),
        ]
    )
    func maxAge(text: String, seconds: TimeInterval) throws {
        let field = try SetCookieField("a=b; Max-Age=\(text)")
        #expect(field.expiry(at: now) == now.addingTimeInterval(seconds))
    }

    @Test(
        "RFC 6265bis §5.6.2: a Max-Age of zero or less is the earliest date",
        arguments: ["0", "000", "-0", "-1", "-" + String(repeating: "9", count: 1023)]
    )
    func noAge(text: String) throws {
        #expect(try SetCookieField("a=b; Max-Age=\(text)").expiry(at: now) == .distantPast)
    }

    @Test(
        "RFC 6265bis §5.6.2: a Max-Age that is not a number is ignored",
        arguments: ["", "-", "--1", "+1", "1.5", "1e3", "0x1", "1 2", "1s", "s1", "\"1\"", "١", "1-"]
    )
    func ignoredAge(text: String) throws {
        #expect(try SetCookieField("a=b; Max-Age=\(text)").expiry(at: now) == nil)
        #expect(try SetCookieField("a=b; Max-Age=9; Max-Age=\(text)").expiry(at: now) == now.addingTimeInterval(9))
    }

    @Test(
        "RFC 6265bis §5.7: Max-Age prevails over Expires in any order, unless it is ignored",
        arguments: [
            ("Max-Age=9; Expires=Fri, 15 Jan 2027 08:01:00 GMT", 9),
            ("Expires=Fri, 15 Jan 2027 08:01:00 GMT; Max-Age=9", 9),
            ("Max-Age=x; Expires=Fri, 15 Jan 2027 08:01:00 GMT", 60),
            ("Max-Age=9; Expires=Thu, 01 Jan 1970 00:00:00 GMT", 9),
            ("Expires=15 Jan 2027 08:02:00; Expires=15 Jan 2027 08:01:00", 60),
            ("Expires=15 Jan 2027 08:01:00; Expires=x", 60),
        ]
    )
    func precedence(attributes: String, seconds: TimeInterval) throws {
        #expect(try SetCookieField("a=b; \(attributes)").expiry(at: now) == now.addingTimeInterval(seconds))
    }

    @Test(
        "RFC 6265bis §5.6.1: an Expires date is at most 400 days away, and may be in the past",
        arguments: [
            ("19 Feb 2028 07:59:59", 34_559_999), ("19 Feb 2028 08:00:00", 34_560_000),
            ("19 Feb 2028 08:00:01", 34_560_000),
            ("31 Dec 9999 23:59:59", 34_560_000), ("15 Jan 2027 07:59:59", -1),
            ("01 Jan 1970 00:00:00", -1_800_000_000),
        ]
    )
    func expires(date: String, seconds: TimeInterval) throws {
        #expect(try SetCookieField("a=b; Expires=\(date)").expiry(at: now) == now.addingTimeInterval(seconds))
    }
}
