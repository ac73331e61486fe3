import Foundation
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("CookieJar, eviction", .watched)
struct CookieJarEvictionTests {
    private var session = CookieSession()

    init() {
        session.rules = CookieRules(publicSuffixes: PublicSuffixList("test"))
        session.rules.siteBound.count = 3
        session.rules.jarBound.count = 5
    }

    /// Stores cookies one second apart.
    private mutating func receive(_ fields: String..., from host: String = "shop.test") throws {
        for field in fields {
            session.now += 1
            #expect(try session.receive(field, from: "https://\(host)/") == nil)
        }
    }

    @Test("RFC 6265bis §5.7: a domain has as many cookies as its bound, and one more evicts the one used longest ago")
    mutating func perDomain() throws {
        try receive("a=1", "b=1", "c=1")
        #expect(session.names == ["a", "b", "c"])
        try receive("d=1")
        #expect(session.names == ["b", "c", "d"])
        try receive("e=1", "f=1", "g=1")
        #expect(session.names == ["e", "f", "g"])
    }

    @Test("RFC 6265bis §5.7: a cookie that was sent is used, however early it was created")
    mutating func use() throws {
        try receive("a=1; Path=/x", "b=1", "c=1")
        session.now += 1
        #expect(try session.sent(to: "https://shop.test/x") == "a=1; b=1; c=1")
        session.now += 1
        #expect(try session.sent(to: "https://shop.test/y") == "b=1; c=1")
        try receive("d=1")
        #expect(session.names == ["b", "c", "d"])
        try receive("b=2", "e=1")
        #expect(session.names == ["b", "d", "e"])
    }

    @Test("Of cookies that were used at the same time, the one that was created first is evicted")
    mutating func ties() throws {
        try receive("a=1", "b=1", "c=1")
        session.now += 1
        #expect(try session.sent() == "a=1; b=1; c=1")
        try session.receive("d=1")
        #expect(session.names == ["b", "c", "d"])
    }

    @Test("RFC 6265bis §5.7: cookies that are not secure are evicted before secure ones of the domain")
    mutating func secureLast() throws {
        try receive("a=1; Secure", "b=1", "c=1; Secure")
        try receive("d=1; Secure")
        #expect(session.names == ["a", "c", "d"])
        try receive("e=1")
        #expect(session.names == ["a", "c", "d"])
        try receive("e=1; Secure")
        #expect(session.names == ["c", "d", "e"])
    }

    @Test("RFC 6265bis §5.7: expired cookies are evicted first, also if they were used last or are secure")
    mutating func expiredFirst() throws {
        try receive("a=1", "b=1", "c=1; Secure; Max-Age=5")
        session.now += 5
        try receive("d=1")
        #expect(session.names == ["a", "b", "d"])
    }

    @Test("RFC 6265bis §5.7: a renewal evicts nothing")
    mutating func renewal() throws {
        try receive("a=1", "b=1", "c=1")
        try receive("d=1", "e=1", from: "other.test")
        try receive("a=2", "b=2")
        #expect(session.names == ["a", "b", "c", "d", "e"])
    }

    @Test("RFC 6265bis §5.7: a full jar evicts the cookie used longest ago, of any domain and also a secure one")
    mutating func total() throws {
        try receive("a=1; Secure", "b=1")
        try receive("c=1", "d=1", from: "other.test")
        try receive("e=1", from: "third.test")
        #expect(session.names == ["a", "b", "c", "d", "e"])
        try receive("f=1", from: "third.test")
        #expect(session.names == ["b", "c", "d", "e", "f"])
    }

    @Test("RFC 6265bis §5.7: a domain with too many cookies evicts its own, even in a full jar")
    mutating func domainBeforeTotal() throws {
        try receive("a=1", "b=1")
        try receive("c=1", "d=1", "e=1", "f=1", from: "other.test")
        #expect(session.names == ["a", "b", "d", "e", "f"])
    }

    @Test("RFC 6265bis §5.7: cookies of a domain and its subdomains count together")
    mutating func domains() throws {
        session.rules.jarBound.count = 9
        try receive("a=1", "b=1; Path=/x", "c=1; Domain=shop.test")
        try receive("d=1", from: "www.shop.test")
        #expect(session.names == ["b", "c", "d"])
        try receive("e=1; Domain=shop.test", from: "www.shop.test")
        #expect(session.names == ["c", "d", "e"])
        try receive("f=1", from: "other.test")
        #expect(session.names == ["c", "d", "e", "f"])
    }

    @Test("A site evicts its own cookies if they have more bytes than its bound")
    mutating func siteBytes() throws {
        session.rules.siteBound = .init(count: 9, byteCount: 30)
        // Each cookie has 9 bytes of the domain, 1 of the path and 1 of the name.
        try receive("a=1234")
        try receive("b=1234", from: "other.test")
        #expect(session.names == ["a", "b"])
        try receive("c=1234")
        #expect(session.names == ["a", "b", "c"])
        try receive("d=12345")
        #expect(session.names == ["b", "d"])
    }

    @Test("A jar evicts the cookie used longest ago if its cookies have more bytes than its bound")
    mutating func jarBytes() throws {
        session.rules.jarBound = .init(count: 9, byteCount: 45)
        try receive("a=1234")
        try receive("b=123", from: "other.test")
        try receive("c=1234", from: "last.test")
        #expect(session.names == ["a", "b", "c"])
        try receive("c=12345", from: "last.test")
        #expect(session.names == ["b", "c"])
    }

    @Test("Cookies of the largest size from any number of sites take at most 1 MiB, and a file of 6 MiB")
    mutating func largest() throws {
        session.rules = CookieRules(publicSuffixes: PublicSuffixList("test"))
        // A character that JSON escapes.
        let value = String(repeating: "\"", count: 4_000)
        for site in 0..<20 {
            for number in 0..<20 { try receive("a\(number)=\(value); Max-Age=9999", from: "s\(site).test") }
        }
        let byteCount = session.jar.cookies.reduce(0) { $0 + $1.value.utf8.count }
        #expect(byteCount > 900_000 && byteCount < 1 << 20)
        #expect(session.jar.cookies.allSatisfy { $0.domain != "s0.test" })
        let content = CookieFileContent(["": session.jar]) { _ in true }
        #expect(try content.data(path: "").count < 6 << 20)
    }

    @Test("Lower bounds apply to the next cookie")
    mutating func lowerBounds() throws {
        try receive("a=1", "b=1", "c=1")
        try receive("d=1", from: "other.test")
        session.rules.siteBound.count = 2
        session.rules.jarBound.count = 2
        try receive("e=1")
        #expect(session.names == ["d", "e"])
    }

    @Test("RFC 6265bis §6.1: a registrable domain has 180 cookies by default")
    mutating func defaults() throws {
        session.rules = CookieRules(publicSuffixes: PublicSuffixList("test"))
        for number in 1...180 { try receive("a\(number)=1") }
        #expect(session.names == (1...180).map { "a\($0)" })
        try receive("a181=1")
        #expect(session.names == (2...181).map { "a\($0)" })
    }

    @Test("RFC 6265bis §6.1: 10,000 cookies of one response stay within the bounds, and leave other sites alone")
    mutating func hostileResponse() throws {
        session.rules = CookieRules(publicSuffixes: PublicSuffixList("test"))
        try receive("mine=1")
        let domains = ["", "; Domain=b.c.evil.test", "; Domain=c.evil.test", "; Domain=evil.test"]
        for number in 0..<10_000 {
            let field = "a\(number)=1; Path=/\(number)\(domains[number % 4])"
            try session.receive(field, from: "https://a.b.c.evil.test/")
        }
        #expect(session.jar.cookies.count { $0.domain == "shop.test" } == 1)
        #expect(session.jar.cookies.count == 181)
        #expect(try session.sent() == "mine=1")
    }

    @Test("A site with cookies of 70 subdomain levels evicts its own cookies, not those of other sites")
    func levels() throws {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        var rules = CookieRules(publicSuffixes: PublicSuffixList("test"))
        rules.siteBound.count = 10
        rules.jarBound.count = 100
        var jar = CookieJar()
        let own = try #require(CookieJar.Request(scheme: "https", authority: "shop.test", path: "/"))
        jar.store(["session=1"], from: own, rules: rules, at: now)
        let host = String(repeating: "a.", count: 70) + "evil.test"
        let evil = try #require(CookieJar.Request(scheme: "https", authority: host, path: "/"))
        var domain = host[...]
        for level in 0..<70 {
            for number in 0..<10 {
                jar.store(["c\(number)=\(level); Domain=\(domain)"], from: evil, rules: rules, at: now + 1)
            }
            domain = domain.dropFirst(2)
        }
        #expect(jar.cookies.count == 11)
        #expect(jar.cookies.first?.name == "session")
    }
}
