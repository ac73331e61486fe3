import Foundation
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("CookieJar", .watched)
struct CookieJarTests {
    private var jar = CookieJar()
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func cookie(
        _ name: String,
        _ value: String = "1",
        domain: String = "shop.test",
        path: String = "/",
        expiry: Date? = nil
    ) -> CookieJar.Cookie {
        .init(name, value, domain: domain, path: path, expiry: expiry, created: now)
    }

    // MARK: Changes

    @Test("A new jar is empty")
    func new() {
        #expect(jar.cookies.isEmpty)
        #expect(jar == CookieJar())
    }

    @Test("Inserted cookies are added in their order, and one replaces another with its name, domain and path")
    mutating func insert() {
        jar.insert([cookie("a"), cookie("b"), cookie("a", "2", path: "/x")])
        jar.insert([cookie("c"), cookie("a", "3"), cookie("a", "4", domain: "other.test")])
        #expect(jar.cookies.map(\.name) == ["a", "b", "a", "c", "a"])
        #expect(jar.cookies.map(\.value) == ["3", "1", "2", "1", "4"])
    }

    @Test("An inserted cookie replaces one of a response, keeps its place, and is renewed by a response")
    mutating func insertAndReceive() throws {
        var session = CookieSession()
        try session.receive("a=1")
        try session.receive("b=1")
        session.jar.insert([cookie("a", "2"), cookie("c", "2")])
        #expect(try session.sent() == "a=2; b=1; c=2")
        try session.receive("c=3")
        try session.receive("d=3")
        #expect(try session.sent() == "a=2; b=1; c=3; d=3")
    }

    @Test("Inserted cookies of the host and of the domain are kept side by side")
    mutating func insertBoth() {
        var shared = cookie("a", "2")
        shared.isHostOnly = false
        jar.insert([cookie("a"), shared])
        #expect(jar.cookies.map(\.value) == ["1", "2"])
    }

    @Test("Inserted cookies whose domain is not a host are left out")
    mutating func insertNoHost() {
        jar.insert([cookie("a", domain: "."), cookie("b"), cookie("c", domain: "a b")])
        #expect(jar.cookies.map(\.name) == ["b"])
    }

    @Test("Inserting takes time in proportion to the number of cookies")
    mutating func insertMany() {
        jar.insert((0..<50_000).map { cookie("n\($0)") })
        #expect(jar.cookies.count == 180)
        #expect(jar.cookies.last?.name == "n49999")
    }

    @Test("A decoded jar is equal to the encoded one, and gives the next cookie a later place")
    mutating func coding() throws {
        jar.insert([cookie("a"), cookie("b", expiry: now + 1)])
        var decoded = try JSONDecoder().decode(CookieJar.self, from: JSONEncoder().encode(jar))
        #expect(decoded == jar)
        decoded.insert([cookie("c")])
        #expect(decoded.cookies.map(\.order) == [0, 1, 2])
    }

    /// Encodes a jar that no response and no import could make.
    private func encoded(_ cookies: [CookieJar.Cookie], nextOrder: Int = 0) throws -> CookieJar {
        struct Form: Encodable { let cookies: [CookieJar.Cookie], nextOrder: Int }
        let data = try JSONEncoder().encode(Form(cookies: cookies, nextOrder: nextOrder))
        return try JSONDecoder().decode(CookieJar.self, from: data)
    }

    @Test("A decoded jar is within the bounds of a site and of a jar, in time in proportion to the cookies")
    func decodingMany() throws {
        #expect(try encoded((0..<5_000).map { cookie("n\($0)") }).cookies.count == 180)
        let sites = (0..<5_000).map { cookie("n", domain: "h\($0).test") }
        #expect(try encoded(sites).cookies.map(\.domain) == sites.suffix(3_000).map(\.domain))
        let large = (0..<100).map { cookie("n\($0)", String(repeating: "v", count: 4_000)) }
        #expect(try encoded(large).cookies.count == 16)
    }

    @Test("A decoded jar has no cookie twice, and none that a jar does not keep")
    func decodingRefused() throws {
        var (upper, relative) = (cookie("b"), cookie("c"))
        upper.domain = "B.test"
        relative.path = "x"
        let refused = [cookie("a", domain: "."), cookie("a", String(repeating: "v", count: 5_000))]
        let jar = try encoded(refused + [cookie("a"), cookie("a", "2"), upper, relative])
        #expect(jar.cookies.map(\.value) == ["2", "1", "1"])
        #expect(jar.cookies.map(\.domain) == ["shop.test", "b.test", "shop.test"])
        #expect(jar.cookies.map(\.path) == ["/", "/", "/"])
    }

    @Test(
        "A decoded jar takes more cookies, whatever positions it was encoded with",
        arguments: [.max, .min, -1, 0, 1]
    )
    func decodingOrder(order: Int) throws {
        var (first, second) = (cookie("a"), cookie("b"))
        (first.order, second.order) = (order, order)
        for next in [order, 0, Int.max] {
            var jar = try encoded([first, second], nextOrder: next)
            jar.insert([cookie("c")])
            #expect(jar.cookies.map(\.order) == [0, 1, 2])
        }
    }

    @Test("The cookies for which a closure returns true are removed, or all of them")
    mutating func removeAll() {
        jar.insert([cookie("a"), cookie("b", domain: "other.test"), cookie("c")])
        jar.removeAll { $0.domain == "shop.test" }
        #expect(jar.cookies.map(\.name) == ["b"])
        jar.removeAll()
        #expect(jar.cookies.isEmpty)
    }

    @Test("Jars are equal if they got the same cookies in the same order")
    mutating func equality() {
        jar.insert([cookie("a"), cookie("b")])
        var other = CookieJar()
        other.insert([cookie("a")])
        #expect(jar != other)
        other.insert([cookie("b")])
        #expect(jar == other)
        other.insert([cookie("b", "2")])
        #expect(jar != other)
    }

    // MARK: Cookies

    @Test("A cookie that no response set is sent to its host over https until the session ends")
    func defaults() {
        let cookie = cookie("a", " \"1\" ")
        #expect(cookie.value == " \"1\" ")
        #expect(cookie.isHostOnly)
        #expect(cookie.path == "/")
        #expect(cookie.expiry == nil)
        #expect(cookie.isSecure)
        #expect(cookie.isHTTPOnly)
        #expect(cookie.sameSite == nil)
        #expect(cookie.created == now)
        #expect(cookie.lastAccessed == now)
    }

    @Test(
        "A cookie's domain is in the form of a request's host, or empty, and its path begins with a slash",
        arguments: [
            ("Shop.TEST", "/a", "shop.test", "/a"), (".shop.test", "a", "shop.test", "/"),
            ("shop.test.", "", "shop.test.", "/"),
            ("..Bücher.test", "/", "xn--bcher-kva.test", "/"), ("::1", "/", "[::1]", "/"),
            ("[2001:DB8::1]", "/", "[2001:db8::1]", "/"), ("10.2.3.4", "/", "10.2.3.4", "/"),
            // No hosts.
            ("", "/", "", "/"), (".", "/", "", "/"), ("a..test", "/", "", "/"), ("a b.test", "/", "", "/"),
            ("#a.test", "/", "", "/"), ("a.test\t", "/", "", "/"), ("shop.test:443", "/", "", "/"),
        ]
    )
    func normalization(domain: String, path: String, normalDomain: String, normalPath: String) {
        let cookie = cookie("a", domain: domain, path: path)
        #expect(cookie.domain == normalDomain)
        var changed = self.cookie("a", domain: "other.test")
        changed.domain = domain
        #expect(changed.domain == normalDomain)
        #expect(cookie.path == normalPath)
    }

    @Test(
        "A cookie has expired from its expiry on, and one of the session never",
        arguments: [(-1.0, false), (0, true), (1, true)]
    )
    func isExpired(offset: TimeInterval, isExpired: Bool) {
        #expect(cookie("a", expiry: now).isExpired(at: now.addingTimeInterval(offset)) == isExpired)
        #expect(!cookie("a").isExpired(at: now.addingTimeInterval(offset)))
    }

    @Test(
        "The names of SameSite values are those of the attribute in lower case",
        arguments: [("strict", CookieJar.Cookie.SameSite.strict), ("lax", .lax), ("none", .unrestricted)]
    )
    func sameSite(name: String, value: CookieJar.Cookie.SameSite) {
        #expect(value.rawValue == name)
    }

    // MARK: Descriptions

    @Test("Descriptions of jars and cookies contain no value")
    mutating func descriptions() {
        jar.insert([cookie("a", "canary"), cookie("b", "canary", path: "/x")])
        #expect(jar.description == "2 cookies")
        #expect(jar.cookies.map(\.description) == ["a of shop.test/", "b of shop.test/x"])
        var dumped = ""
        dump(jar, to: &dumped)
        #expect(dumped == "- 2 cookies\n")
        dump(jar.cookies, to: &dumped)
        let texts = ["\(jar)", "\(jar.cookies)", String(reflecting: jar), String(reflecting: jar.cookies), dumped]
        #expect(!texts.joined().contains("canary"))
        #expect(dumped.contains("a of shop.test/"))
    }

    // MARK: Rules

    @Test("Rules are those of the system's list and common bounds by default")
    func rules() {
        let rules = CookieRules()
        #expect(rules.publicSuffixes?.suffix(of: "a.co.uk") == PublicSuffixList.system?.suffix(of: "a.co.uk"))
        #expect(rules.sharedDomains.isEmpty)
        #expect((rules.siteBound.count, rules.siteBound.byteCount) == (180, 65_536))
        #expect((rules.jarBound.count, rules.jarBound.byteCount) == (3000, 1_048_576))
    }
}
