import Foundation
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("CookieJar, storing", .watched)
struct CookieJarStoringTests {
    private var session = CookieSession()

    // MARK: Fields

    @Test("RFC 6265bis §5.7: a cookie has the fields of its attributes")
    mutating func attributes() throws {
        let field = "a=b; Domain=shop.test; Path=/c; Max-Age=9; Secure; HttpOnly; SameSite=Strict"
        #expect(try session.receive(field, from: "https://www.shop.test:8443/d/e?f") == nil)
        let cookie = try session.onlyCookie
        #expect(cookie.name == "a")
        #expect(cookie.value == "b")
        #expect(cookie.domain == "shop.test")
        #expect(!cookie.isHostOnly)
        #expect(cookie.path == "/c")
        #expect(cookie.expiry == session.now.addingTimeInterval(9))
        #expect(cookie.isSecure)
        #expect(cookie.isHTTPOnly)
        #expect(cookie.sameSite == .strict)
        #expect(cookie.created == session.now)
        #expect(cookie.lastAccessed == session.now)
    }

    @Test("RFC 6265bis §5.7: a cookie without attributes belongs to the host, its path and the session")
    mutating func noAttributes() throws {
        #expect(try session.receive("a=b", from: "http://www.shop.test/d/e?f=/g/h") == nil)
        let cookie = try session.onlyCookie
        #expect(cookie.domain == "www.shop.test")
        #expect(cookie.isHostOnly)
        #expect(cookie.path == "/d")
        #expect(cookie.expiry == nil)
        #expect(!cookie.isSecure)
        #expect(!cookie.isHTTPOnly)
        #expect(cookie.sameSite == nil)
    }

    @Test(
        "A refusal has the name of its reason, and the jar stays as it is",
        arguments: [
            ("a=\u{1}", "https://shop.test/", "controlCharacter"), ("=", "https://shop.test/", "empty"),
            ("a=" + String(repeating: "b", count: 4096), "https://shop.test/", "tooLarge"),
            ("a=b; Domain=other.test", "https://shop.test/", "otherDomain"),
            ("a=b; Domain=test", "https://shop.test/", "publicSuffix"),
            ("a=b; Secure", "http://shop.test/", "notSecure"),
            ("a=b; SameSite=None", "https://shop.test/", "notSecure"),
            ("old=b", "http://shop.test/", "secureCookieExists"), ("__Host-a=b", "https://shop.test/", "prefix"),
        ]
    )
    mutating func refusals(field: String, url: String, reason: String) throws {
        try session.receive("old=canary; Secure")
        let before = session.jar
        let refusal = try session.receive(field, from: url)
        #expect(refusal?.rawValue == reason)
        #expect(session.jar == before)
    }

    // MARK: Paths

    @Test(
        "RFC 6265bis §5.1.4: without a Path that begins with a slash, the path is the request's up to its last slash",
        arguments: [
            ("", "/"), ("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b", "/a"), ("/a/b/", "/a/b"), ("/a//b", "/a/"),
            ("//", "/"), ("//a", "/"), ("/a?b/c", "/"), ("/a/b?c/d", "/a"), ("/?a", "/"), ("/a/%2Fb", "/a"),
            ("/a/\u{301}b", "/a"),
        ]
    )
    mutating func defaultPath(requested: String, path: String) throws {
        for field in ["a=b", "a=b; Path", "a=b; Path=", "a=b; Path=c/d", "a=b; Path=/x; Path=\"/c\""] {
            session.jar.removeAll()
            try session.receive(field, from: "https://shop.test\(requested)")
            #expect(try session.onlyCookie.path == path, "\(field)")
        }
    }

    @Test(
        "RFC 6265bis §5.6.4: a Path attribute may name any path",
        arguments: ["/", "/x", "/x/", "/d", "/é", "/\u{301}"]
    )
    mutating func path(path: String) throws {
        try session.receive("a=b; Path=\(path)", from: "https://shop.test/d/e")
        #expect(try session.onlyCookie.path == path)
    }

    @Test("A request for an asterisk, or without a path, has the path of the root")
    mutating func otherTargets() throws {
        for path in ["*", "", "a/b", "?a/b"] {
            let request = try #require(CookieJar.Request(scheme: "https", authority: "shop.test", path: path))
            session.jar.removeAll()
            session.jar.store(["a=b"], from: request, rules: session.rules, at: session.now)
            #expect(try session.onlyCookie.path == "/", "\(path)")
        }
    }

    // MARK: Secure connections

    @Test(
        "RFC 6265bis §5.7: a secure cookie is accepted over https and from loopback addresses only",
        arguments: [
            ("https://shop.test/", true), ("HTTPS://shop.test/", true), ("http://shop.test/", false),
            ("ftp://shop.test/", false),
            ("http://localhost/", true), ("http://LOCALHOST:8080/", true), ("http://a.localhost/", true),
            ("http://127.0.0.1/", true), ("http://127.9.8.7:80/", true), ("http://[::1]:8080/", true),
            ("http://[::2]/", false), ("http://128.0.0.1/", false), ("http://10.127.0.1/", false),
            ("http://127.shop.test/", false),
            ("http://127.0.0.1.shop.test/", false), ("http://localhost.test/", false), ("http://mylocalhost/", false),
        ]
    )
    mutating func secure(url: String, isAccepted: Bool) throws {
        #expect(try session.receive("a=b; Secure", from: url) == (isAccepted ? nil : .notSecure))
        #expect(session.jar.cookies.count == (isAccepted ? 1 : 0))
        #expect(try session.receive("c=d", from: url) == nil)
    }

    @Test("RFC 6265bis §5.7: a cookie with SameSite=None must be secure")
    mutating func unrestrictedIsSecure() throws {
        #expect(try session.receive("a=b; SameSite=None") == .notSecure)
        #expect(try session.receive("a=b; SameSite=None", from: "http://shop.test/") == .notSecure)
        #expect(try session.receive("a=b; SameSite=None; SameSite=Lax") == nil)
        #expect(try session.receive("a=b; SameSite=None; Secure") == nil)
        #expect(try session.onlyCookie.sameSite == .unrestricted)
    }

    @Test(
        "RFC 6265bis §5.7: a cookie of an unencrypted connection cannot hide a secure one",
        arguments: [
            // The note of the clause: a secure cookie for /login protects paths under it, but none above it.
            ("a=b; Path=/login", "http://shop.test/", false), ("a=b; Path=/login/en", "http://shop.test/", false),
            ("a=b", "http://shop.test/login/", false), ("a=b; Path=/", "http://shop.test/", true),
            ("a=b; Path=/foo", "http://shop.test/", true), ("a=b; Path=/loginx", "http://shop.test/", true),
            // Subdomains and parent domains.
            ("a=b; Path=/login", "http://www.shop.test/", false),
            ("a=b; Path=/login; Domain=shop.test", "http://www.shop.test/", false),
            ("a=b; Path=/login", "http://other.test/", true), ("a=b; Path=/login", "http://myshop.test/", true),
            // Other names, also in another case.
            ("A=b; Path=/login", "http://shop.test/", true), ("c=b; Path=/login", "http://shop.test/", true),
            // Encrypted connections may.
            ("a=b; Path=/login", "https://shop.test/", true),
        ]
    )
    mutating func hidesSecure(field: String, url: String, isAccepted: Bool) throws {
        try session.receive("a=canary; Secure; Path=/login")
        #expect(try session.receive(field, from: url) == (isAccepted ? nil : .secureCookieExists))
        #expect(session.jar.cookies.contains { $0.value == "b" } == isAccepted)
    }

    @Test("RFC 6265bis §5.7: a host cannot hide a secure cookie of its subdomain either")
    mutating func hidesSecureBelow() throws {
        try session.receive("a=canary; Secure; Path=/", from: "https://www.shop.test/")
        #expect(try session.receive("a=b; Domain=shop.test", from: "http://shop.test/") == .secureCookieExists)
        #expect(try session.receive("a=b", from: "http://shop.test/") == .secureCookieExists)
    }

    @Test("RFC 6265bis §5.7: a cookie that is not secure does not protect its name, and an expired one does not either")
    mutating func hidesOthers() throws {
        try session.receive("a=1")
        #expect(try session.receive("a=2", from: "http://shop.test/") == nil)
        try session.receive("b=1; Secure; Max-Age=5")
        #expect(try session.receive("b=2", from: "http://shop.test/") == .secureCookieExists)
        session.now += 5
        #expect(try session.receive("b=2", from: "http://shop.test/") == nil)
        #expect(session.jar.cookies.map(\.value) == ["2", "2"])
    }

    // MARK: Renewal and expiry

    @Test("RFC 6265bis §5.7: a renewed cookie keeps its creation time and place, and nothing else")
    mutating func renewal() throws {
        let begin = session.now
        for name in ["a", "b", "c"] { try session.receive("\(name)=1; Max-Age=60; Secure; HttpOnly; SameSite=Lax") }
        session.now += 10
        #expect(try session.receive("b=2") == nil)
        #expect(session.names == ["a", "b", "c"])
        let cookie = session.jar.cookies[1]
        #expect(cookie.value == "2")
        #expect(cookie.created == begin)
        #expect(cookie.lastAccessed == session.now)
        #expect(cookie.expiry == nil)
        #expect(!cookie.isSecure)
        #expect(!cookie.isHTTPOnly)
        #expect(cookie.sameSite == nil)
        #expect(try session.sent() == "a=1; b=2; c=1")
    }

    @Test(
        "RFC 6265bis §5.7: cookies that differ in name, domain, host-only flag or path are kept side by side",
        arguments: [
            ("A=2", "https://shop.test/"), ("a=2; Path=/x", "https://shop.test/"),
            ("a=2; Path=/X", "https://shop.test/"),
            ("a=2; Domain=shop.test", "https://shop.test/"), ("a=2", "https://www.shop.test/"),
            ("=2", "https://shop.test/"),
        ]
    )
    mutating func distinct(field: String, url: String) throws {
        try session.receive("a=1")
        if field.contains("/X") { try session.receive("a=3; Path=/x") }
        let count = session.jar.cookies.count
        #expect(try session.receive(field, from: url) == nil)
        #expect(session.jar.cookies.count == count + 1)
        #expect(session.jar.cookies[0].value == "1")
    }

    @Test("RFC 6265bis §5.7: names and paths are compared as bytes, not as equivalent text")
    mutating func equivalents() throws {
        try session.receive("\u{E9}=1; Path=/\u{E9}")
        try session.receive("e\u{301}=2; Path=/\u{E9}")
        try session.receive("\u{E9}=3; Path=/e\u{301}")
        #expect(session.jar.cookies.map(\.value) == ["1", "2", "3"])
    }

    @Test(
        "RFC 6265bis §5.7: an expired cookie removes the one that it renews, and only that one",
        arguments: ["Max-Age=0", "Max-Age=-1", "Expires=Thu, 01 Jan 1970 00:00:00 GMT", "Expires=15 Jan 2027 07:59:59"]
    )
    mutating func expiredRenewal(attribute: String) throws {
        for field in ["a=1", "b=1", "a=1; Path=/x", "a=1; Domain=shop.test"] { try session.receive(field) }
        #expect(try session.receive("a=2; \(attribute)") == nil)
        #expect(session.jar.cookies.map(\.description) == ["b of shop.test/", "a of shop.test/x", "a of shop.test/"])
        #expect(try session.receive("c=2; \(attribute)") == nil)
        #expect(session.jar.cookies.count == 3)
    }

    @Test("RFC 6265bis §5.7: a jar that gets a cookie removes all that have expired, and does not renew them")
    mutating func expiredCookies() throws {
        try session.receive("a=1; Max-Age=5")
        try session.receive("b=1; Max-Age=6", from: "https://other.test/")
        try session.receive("c=1")
        session.now += 5
        try session.receive("a=2")
        #expect(session.names == ["b", "c", "a"])
        #expect(session.jar.cookies[2].created == session.now)
        session.now += 1
        try session.receive("d=1")
        #expect(session.names == ["c", "a", "d"])
    }

    @Test("RFC 6265bis §5.5: a cookie is kept for at most 400 days")
    mutating func longestAge() throws {
        try session.receive("a=1; Max-Age=99999999999")
        try session.receive("b=1; Expires=31 Dec 9999 23:59:59")
        session.now += 400 * 86_400 - 1
        #expect(try session.sent() == "a=1; b=1")
        session.now += 1
        #expect(try session.sent() == nil)
    }
}
