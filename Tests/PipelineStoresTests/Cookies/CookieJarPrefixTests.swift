import TestSupport
import Testing

@testable import PipelineCaching

@Suite("CookieJar, name prefixes", .watched)
struct CookieJarPrefixTests {
    private var session = CookieSession()

    /// A field whose cookie meets the conditions of every prefix.
    private static let allowed = "; Secure; HttpOnly; Path=/"

    @Test(
        "RFC 6265bis §5.7: a cookie with a name prefix, in any case, must meet the conditions of the prefix",
        arguments: [
            // The name, and whether its cookie must be of one host's root.
            ("__Secure-a", false), ("__secure-a", false), ("__SECURE-", false), ("__sEcUrE-\u{301}", false),
            ("__Host-a", true), ("__host-a", true), ("__HOST-a", true), ("__hOsT-\u{301}", true),
            ("__Host-Http-a", true),
        ]
    )
    mutating func conditions(name: String, isHost: Bool) throws {
        let url = "https://shop.test/x/y"
        #expect(try session.receive("\(name)=b\(Self.allowed)", from: url) == nil)
        session.jar.removeAll()
        #expect(try session.receive("\(name)=b; HttpOnly; Path=/", from: url) == .prefix)
        #expect(try session.receive("\(name)=b; HttpOnly; Path=/", from: "http://shop.test/") == .prefix)
        #expect(try session.receive("\(name)=b; Secure; Path=/", from: url) == nil)
        for attributes in ["", "; Path=/x", "; Path=/x/", "; Path", "; Path=/; Path=x", "; Path=/; Domain=shop.test"] {
            let refusal = try session.receive("\(name)=b; Secure; HttpOnly\(attributes)", from: url)
            #expect(refusal == (isHost ? .prefix : nil), "\(attributes)")
        }
        let atRoot = try session.receive("\(name)=b; Secure; HttpOnly", from: "https://shop.test/")
        #expect(atRoot == (isHost ? .prefix : nil))
        #expect(try session.receive("\(name)=b\(Self.allowed)", from: "http://shop.test/") == .notSecure)
    }

    @Test(
        "RFC 6265bis §5.7: a cookie without a name is refused if its value looks like a name with a prefix",
        arguments: [
            "__Secure-", "__Host-", "__SECURE-", "__hOst-", "__Host-\u{301}",
        ]
    )
    mutating func nameless(prefix: String) throws {
        for field in ["\(prefix)a", "=\(prefix)a", " = \(prefix)a", "=\(prefix)a=b", prefix, "\t\(prefix)"] {
            #expect(try session.receive(field) == .prefix, "\(field)")
            #expect(try session.receive(field + Self.allowed) == .prefix, "\(field)")
        }
        #expect(try session.receive("a=\(prefix)") == nil)
    }

    @Test(
        "Names that only contain a prefix are free",
        arguments: [
            "a__Host-b", "_Host-a", "__Hosta", "__Host", "__Secure_a", "Secure-a", "__Http-a", "__Http", "\"__Host-a",
        ]
    )
    mutating func others(name: String) throws {
        #expect(try session.receive("\(name)=b") == nil)
        #expect(try session.receive(name) == nil)
    }

    @Test("RFC 6265bis §5.7: a prefix of one host allows a Domain attribute that is not kept")
    mutating func suffixHost() throws {
        #expect(try session.receive("__Host-a=b; Domain=co.test\(Self.allowed)", from: "https://co.test/") == nil)
        #expect(try session.receive("__Host-b=b; Domain=\(Self.allowed)") == nil)
    }

    @Test("RFC 6265bis §5.4: names with a prefix in different cases are different cookies")
    mutating func cases() throws {
        try session.receive("__Host-a=1\(Self.allowed)")
        try session.receive("__HOST-a=2\(Self.allowed)")
        #expect(try session.sent() == "__Host-a=1; __HOST-a=2")
    }
}
