import Foundation
import HTTPTypes
import PipelineCaching
import TestSupport
import Testing

@Suite("CookieJar, sending", .watched)
struct CookieJarSendingTests {
    private var session = CookieSession()

    private mutating func insert(
        _ names: String...,
        domain: String = "shop.test",
        isHostOnly: Bool = true,
        path: String = "/",
        isSecure: Bool = false,
        sameSite: CookieJar.Cookie.SameSite? = nil
    ) {
        session.jar.insert(
            names.map {
                .init(
                    $0,
                    "1",
                    domain: domain,
                    isHostOnly: isHostOnly,
                    path: path,
                    isSecure: isSecure,
                    sameSite: sameSite,
                    created: session.now
                )
            }
        )
    }

    // MARK: Hosts

    @Test(
        "RFC 6265bis §5.1.3: a cookie of a domain is sent to its subdomains, and one of a host to the host only",
        arguments: [
            ("shop.test", "shop.test", true, true), ("shop.test", "SHOP.Test:8443", true, true),
            ("shop.test", "www.shop.test", true, false), ("shop.test", "a.b.shop.test", true, false),
            ("shop.test", "myshop.test", false, false), ("shop.test", "shop.test.other.test", false, false),
            ("shop.test", "other.test", false, false), ("shop.test", "test", false, false),
            ("shop.test", "shop.test.", false, false), ("shop.test.", "www.shop.test.", true, false),
            ("www.shop.test", "shop.test", false, false), ("xn--bcher-kva.test", "www.bücher.test", true, false),
            ("Bücher.test", "BÜCHER.test", true, true), ("10.2.3.4", "10.2.3.4:80", true, true),
            ("::1", "[::1]", true, true), ("2.3.4", "10.2.3.4", false, false), ("4", "10.2.3.4", false, false),
            ("[::1]", "[::1]:80", true, true),
        ]
    )
    mutating func hosts(domain: String, host: String, isSent: Bool, isSentIfHostOnly: Bool) throws {
        insert("a", domain: domain, isHostOnly: false)
        insert("b", domain: domain)
        let names = (isSent ? ["a=1"] : []) + (isSentIfHostOnly ? ["b=1"] : [])
        #expect(try session.sent(to: "http://\(host)/") ?? "" == names.joined(separator: "; "))
    }

    @Test(
        "RFC 6265bis §5.8.3: a cookie of a domain that became a public suffix is not sent, unless it is the host's own"
    )
    mutating func newSuffix() throws {
        insert("a", domain: "co.test", isHostOnly: false)
        insert("b", domain: "co.test")
        #expect(try session.sent(to: "https://shop.co.test/") == nil)
        #expect(try session.sent(to: "https://co.test/") == "b=1")
        session.rules.publicSuffixes = PublicSuffixList("test")
        #expect(try session.sent(to: "https://shop.co.test/") == "a=1")
        session.rules.publicSuffixes = nil
        #expect(try session.sent(to: "https://shop.co.test/") == "a=1")
    }

    // MARK: Paths

    @Test(
        "RFC 6265bis §5.1.4: a cookie is sent to its path and to paths below it",
        arguments: [
            ("/", "/", true), ("/", "", true), ("/", "/a", true), ("/", "/a/b/", true), ("/a", "/a", true),
            ("/a", "/a/", true),
            ("/a", "/a/b", true), ("/a", "/a?b", true), ("/a", "/a/?b=/c", true), ("/a/", "/a/", true),
            ("/a/", "/a/b", true),
            ("/a//", "/a//b", true), ("/é", "/é/b", true), ("/a", "/a/\u{301}b", true), ("/a/", "/a/\u{301}b", true),
            ("/a", "/", false), ("/a", "/ab", false), ("/a", "/A", false), ("/a", "/b/a", false),
            ("/a", "/a%2Fb", false),
            ("/a/", "/a", false), ("/a/", "/a?/", false), ("/a/b", "/a", false), ("/a/b", "/a?/b", false),
            ("/a//", "/a/", false),
            ("/a%2Fb", "/a/b", false), ("/e\u{301}", "/\u{E9}", false), ("/e", "/e\u{301}", false),
        ]
    )
    mutating func paths(path: String, requested: String, isSent: Bool) throws {
        insert("a", path: path)
        #expect(try session.sent(to: "https://shop.test\(requested)") == (isSent ? "a=1" : nil))
    }

    // MARK: Secure connections

    @Test(
        "RFC 6265bis §5.8.3: a secure cookie is sent over https and to loopback addresses only",
        arguments: [
            ("https", "shop.test", true), ("HTTPS", "shop.test", true), ("http", "shop.test", false),
            ("ws", "shop.test", false),
            ("http", "localhost", true), ("http", "a.localhost", true), ("http", "127.0.0.1", true),
            ("http", "127.1.2.3:80", true),
            ("http", "127.1", false), ("http", "127.0.0.256", false), ("http", "[::1]", true), ("http", "[::2]", false),
            ("http", "126.0.0.1", false),
            ("http", "127.shop.test", false),
            ("http", "localhost.test", false), ("http", "alocalhost", false),
        ]
    )
    mutating func secure(scheme: String, host: String, isSent: Bool) throws {
        let domain = host.hasPrefix("127.1.") ? "127.1.2.3" : host
        insert("a", domain: domain, isSecure: true)
        insert("b", domain: domain)
        #expect(try session.sent(to: "\(scheme)://\(host)/") == (isSent ? "a=1; b=1" : "b=1"))
    }

    // MARK: Sites

    @Test(
        "RFC 6265bis §5.8.3: strict cookies are sent within the site, and lax ones also with safe requests of others",
        arguments: [
            // First the attribute and the first host, then whether safe and unsafe requests carry the cookie.
            (CookieJar.Cookie.SameSite.strict, nil, true, true), (.strict, "api.shop.co.test", true, true),
            (.strict, "API.shop.co.test:8443", true, true), (.strict, "shop.co.test", true, true),
            (.strict, "www.shop.co.test", true, true), (.strict, "other.co.test", false, false),
            (.strict, "co.test", false, false), (.strict, "api.shop.test", false, false),
            (.strict, "10.2.3.4", false, false),
            (.lax, nil, true, true), (.lax, "www.shop.co.test", true, true), (.lax, "other.co.test", true, false),
            (nil, nil, true, true), (nil, "www.shop.co.test", true, true), (nil, "other.co.test", true, false),
            (.unrestricted, nil, true, true), (.unrestricted, "www.shop.co.test", true, true),
            (.unrestricted, "other.co.test", true, true),
        ] as [(CookieJar.Cookie.SameSite?, String?, Bool, Bool)]
    )
    mutating func sameSite(
        attribute: CookieJar.Cookie.SameSite?,
        first: String?,
        isSentIfSafe: Bool,
        isSentIfUnsafe: Bool
    ) throws {
        insert("a", domain: "api.shop.co.test", isSecure: true, sameSite: attribute)
        for method in ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"] {
            let method = try #require(HTTPRequest.Method(rawValue: method))
            let sent = try session.sent(to: "https://api.shop.co.test/", method: method, first: first)
            #expect(sent == (isSentIfSafe ? "a=1" : nil), "\(method)")
        }
        for method in ["POST", "PUT", "PATCH", "DELETE", "CONNECT", "get", "OTHER"] {
            let method = try #require(HTTPRequest.Method(rawValue: method))
            let sent = try session.sent(to: "https://api.shop.co.test/", method: method, first: first)
            #expect(sent == (isSentIfUnsafe ? "a=1" : nil), "\(method)")
        }
    }

    @Test(
        "RFC 6265bis §5.2: a request with another scheme than the first one is of another site",
        arguments: [(nil, true), ("https", true), ("HTTPS", true), ("http", false)] as [(String?, Bool)]
    )
    mutating func scheme(first: String?, isSameSite: Bool) throws {
        insert("a", isSecure: true, sameSite: .strict)
        let request = try #require(
            CookieJar.Request(
                scheme: "https",
                authority: "shop.test",
                path: "/",
                firstScheme: first,
                firstAuthority: "shop.test"
            )
        )
        let sent = session.jar.cookies(for: request, rules: session.rules, at: session.now)
        #expect(sent.map(\.name) == (isSameSite ? ["a"] : []))
    }

    @Test(
        "Hosts that have no registrable domain are sites of their own",
        arguments: [
            ("10.2.3.4", "10.2.3.5"), ("co.test", "shop.co.test"), ("test", "shop.test"), ("localhost", "a.localhost"),
        ]
    )
    mutating func noSite(host: String, first: String) throws {
        insert("a", domain: host, sameSite: .strict)
        #expect(try session.sent(to: "https://\(host)/", first: first) == nil)
        #expect(try session.sent(to: "https://\(host)/", first: host) == "a=1")
    }

    @Test(
        "Without a list, hosts are of one site if they are the same, or below the same shared domain",
        arguments: [
            ("www.shop.test", true), ("api.shop.test:8443", true), ("shop.test", true), ("myshop.test", false),
            ("other.test", false), ("co.test", false), ("a.co.test", false), ("test", false),
        ]
    )
    mutating func sharedDomains(first: String, isSameSite: Bool) throws {
        session.rules = CookieRules(publicSuffixes: nil, sharedDomains: ["shop.test", "co.test"])
        insert("a", domain: "api.shop.test", sameSite: .strict)
        #expect(try session.sent(to: "https://api.shop.test/", first: first) == (isSameSite ? "a=1" : nil))
        session.rules.sharedDomains = []
        let isSameHost = first.hasPrefix("api.")
        #expect(try session.sent(to: "https://api.shop.test/", first: first) == (isSameHost ? "a=1" : nil))
    }

    // MARK: Order

    @Test("RFC 6265bis §5.8.3: cookies with longer paths are sent first, and older ones before newer ones")
    mutating func order() throws {
        for field in ["a=1", "b=1; Path=/x/y", "c=1", "d=1; Path=/x", "e=1; Path=/x/y", "f=1; Path=/x/"] {
            try session.receive(field)
        }
        #expect(try session.sent(to: "https://shop.test/x/y") == "b=1; e=1; f=1; d=1; a=1; c=1")
        session.now += 1
        try session.receive("a=2")
        #expect(try session.sent(to: "https://shop.test/x/y") == "b=1; e=1; f=1; d=1; a=2; c=1")
        try session.receive("a=3; Max-Age=0")
        try session.receive("a=4")
        #expect(try session.sent(to: "https://shop.test/x/y") == "b=1; e=1; f=1; d=1; c=1; a=4")
    }

    @Test("RFC 6265bis §5.8.3: of inserted cookies with paths of equal length, older ones are sent first")
    mutating func insertedOrder() throws {
        session.jar.insert(
            [("a", 2), ("b", 1), ("c", 2)].map { name, day in
                .init(name, "1", domain: "shop.test", created: session.now - 86_400 * (10 - day))
            }
        )
        #expect(try session.sent() == "b=1; a=1; c=1")
    }

    @Test("RFC 6265bis §5.8.3: the length of a path is its number of bytes")
    mutating func lengthInBytes() throws {
        // Two paths of three characters.
        insert("a", path: "/x/")
        insert("b", path: "/x/\u{301}")
        #expect(try session.sent(to: "https://shop.test/x/\u{301}/") == "b=1; a=1")
    }

    // MARK: Use and expiry

    @Test("RFC 6265bis §5.8.3: only cookies that are sent count as used")
    mutating func use() throws {
        let begin = session.now
        insert("a")
        insert("b", path: "/x")
        session.now += 60
        try session.respond()
        #expect(session.jar.cookies.map(\.lastAccessed) == [session.now, begin])
        #expect(session.jar.cookies.map(\.created) == [begin, begin])
    }

    @Test("RFC 6265bis §5.7: an expired cookie is not sent, and the next response removes it from the jar")
    mutating func expired() throws {
        try session.receive("a=1; Max-Age=5")
        try session.receive("b=1; Max-Age=6")
        try session.receive("c=1; Max-Age=5", from: "https://other.test/")
        try session.receive("d=1")
        session.now += 4
        #expect(try session.sent() == "a=1; b=1; d=1")
        session.now += 1
        #expect(session.names == ["a", "b", "c", "d"])
        #expect(try session.sent() == "b=1; d=1")
        #expect(session.names == ["a", "b", "c", "d"])
        try session.respond()
        #expect(session.names == ["b", "d"])
    }

    // MARK: Fields

    @Test(
        "RFC 6265bis §5.8.3: the value of a Cookie field has a pair of each cookie, and no sign before a nameless value",
        arguments: [
            ([("a", "1")], "a=1"), ([("a", "1"), ("b", "2")], "a=1; b=2"), ([("", "1")], "1"), ([("a", "")], "a="),
            ([("", "1"), ("a", "\"2 3\"")], "1; a=\"2 3\""), ([], nil),
        ] as [([(String, String)], String?)]
    )
    func fieldValue(pairs: [(String, String)], value: String?) {
        let cookies = pairs.map { CookieJar.Cookie($0, $1, domain: "shop.test", created: session.now) }
        #expect(cookies.fieldValue == value)
    }

    // MARK: Bounds of the field

    @Test("A Cookie field has at most 8190 bytes; the cookies at the end of the order are left out")
    func fieldBound() throws {
        var jar = CookieJar()
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let value = String(repeating: "x", count: 4_000)
        jar.insert(["a", "b", "c"].map { CookieJar.Cookie($0, value, domain: "shop.test", created: now) })
        let request = try #require(CookieJar.Request(scheme: "https", authority: "shop.test", path: "/"))
        let sent = jar.cookies(for: request, rules: CookieRules(publicSuffixes: nil), at: now + 1)
        #expect(sent.map(\.name) == ["a", "b"])
        jar.store([], from: request, rules: CookieRules(publicSuffixes: nil), at: now + 1)
        #expect(jar.cookies.map { $0.lastAccessed == now } == [false, false, true])
    }

    @Test(
        "An inserted cookie that a header field cannot hold is not sent, and the others are",
        arguments: [
            ("a", "1 "), ("a", "\t1"), ("a", "1;2"), ("a", "1\n2"), ("a=b", "1"), ("a ", "1"), ("a", "\u{7F}"),
            ("", ""),
        ]
    )
    func unsendable(name: String, value: String) throws {
        var jar = CookieJar()
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        jar.insert([
            CookieJar.Cookie(name, value, domain: "shop.test", created: now),
            CookieJar.Cookie("good", "1", domain: "shop.test", created: now),
        ])
        let request = try #require(CookieJar.Request(scheme: "https", authority: "shop.test", path: "/"))
        #expect(jar.cookies(for: request, rules: CookieRules(publicSuffixes: nil), at: now).fieldValue == "good=1")
    }
}
