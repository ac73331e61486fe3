import PipelineCaching
import TestSupport
import Testing

@Suite("CookieJar, domains", .watched)
struct CookieJarDomainTests {
    private var session = CookieSession()

    /// Returns the reason of a refusal, or the domain with a leading dot if subdomains get the cookie, too.
    private mutating func result(of field: String, from url: String) throws -> String {
        if let refusal = try session.receive(field, from: url) { return refusal.rawValue }
        let cookie = try session.onlyCookie
        return (cookie.isHostOnly ? "" : ".") + cookie.domain
    }

    // MARK: With a list

    @Test(
        "RFC 6265bis §5.7: a Domain attribute names the host or a parent domain, in any case and with a leading dot",
        arguments: [
            ("shop.test", "shop.test", ".shop.test"), ("shop.test", ".shop.test", ".shop.test"),
            ("shop.test", "SHOP.Test", ".shop.test"), ("SHOP.Test:8443", "shop.test", ".shop.test"),
            ("www.shop.test", "shop.test", ".shop.test"), ("a.b.shop.test", "b.shop.test", ".b.shop.test"),
            ("shop.test", "", "shop.test"), ("shop.test", ".", "shop.test"),
            // Other domains, and those below the host.
            ("shop.test", "www.shop.test", "otherDomain"), ("myshop.test", "shop.test", "otherDomain"),
            ("shop.test", "hop.test", "otherDomain"), ("shop.test", "other.test", "otherDomain"),
            ("shop.test", "shop.test:443", "otherDomain"), ("shop.test", "..shop.test", "otherDomain"),
            // A dot at the end makes another host.
            ("shop.test", "shop.test.", "otherDomain"), ("shop.test.", "shop.test", "otherDomain"),
            ("shop.test.", "shop.test.", ".shop.test."), ("www.shop.test.", ".shop.test.", ".shop.test."),
        ]
    )
    mutating func domain(host: String, domain: String, expected: String) throws {
        #expect(try result(of: "a=b; Domain=\(domain)", from: "https://\(host)/") == expected)
    }

    @Test(
        "RFC 6265bis §5.7: a cookie for a public suffix is refused, or kept for the host that is the suffix",
        arguments: [
            ("shop.test", "test", "publicSuffix"), ("shop.test", ".TEST", "publicSuffix"),
            ("shop.test.", "test.", "publicSuffix"),
            ("www.shop.co.test", "co.test", "publicSuffix"), ("shop.test", "co.test", "publicSuffix"),
            ("co.test", "test", "publicSuffix"), ("a.unlisted", "unlisted", "publicSuffix"),
            ("test", "test", "test"), ("co.test", "co.test", "co.test"), ("co.test", ".CO.test", "co.test"),
            ("localhost", "localhost", "localhost"), ("www.shop.co.test", "shop.co.test", ".shop.co.test"),
        ]
    )
    mutating func publicSuffix(host: String, domain: String, expected: String) throws {
        #expect(try result(of: "a=b; Domain=\(domain)", from: "https://\(host)/") == expected)
    }

    @Test(
        "RFC 6265bis §5.1.3: an IP address matches only itself",
        arguments: [
            ("10.2.3.4", "10.2.3.4", "10.2.3.4"), ("10.2.3.4", "2.3.4", "otherDomain"),
            ("10.2.3.4", "4", "otherDomain"),
            ("10.2.3.4", "10.2.3.5", "otherDomain"), ("10.2.3.4:80", ".10.2.3.4", "10.2.3.4"),
            ("[2001:DB8::1]:443", "[2001:db8::1]", "[2001:db8::1]"), ("[2001:db8::1]", "2001:db8::1", "otherDomain"),
            ("[::ffff:1.2.3.4]", "3.4]", "otherDomain"),
        ]
    )
    mutating func addresses(host: String, domain: String, expected: String) throws {
        #expect(try result(of: "a=b; Domain=\(domain)", from: "https://\(host)/") == expected)
    }

    @Test(
        "RFC 6265bis §5.7: international hosts are kept in ASCII form, and a Domain attribute must be in it",
        arguments: [
            ("bücher.test", "", "xn--bcher-kva.test"), ("BÜCHER.test", "xn--bcher-kva.test", ".xn--bcher-kva.test"),
            ("www.bu\u{308}cher.test", "XN--BCHER-KVA.test", ".xn--bcher-kva.test"),
            ("bücher.test", "bücher.test", "otherDomain"), ("xn--bcher-kva.test", "bücher.test", "otherDomain"),
            ("shop.test", "shop\u{3002}test", "otherDomain"), ("key.test", "\u{212A}ey.test", "otherDomain"),
        ]
    )
    mutating func international(host: String, domain: String, expected: String) throws {
        #expect(try result(of: "a=b; Domain=\(domain)", from: "https://\(host)/") == expected)
    }

    // MARK: Without a list

    @Test(
        "Without a list, a cookie with a Domain attribute is kept for its host, unless the domain is a shared one",
        arguments: [
            ("www.shop.test", "shop.test", ".shop.test"), ("www.shop.test", "SHOP.test", ".shop.test"),
            ("shop.test", "shop.test", ".shop.test"), ("shop.test", "", "shop.test"),
            ("www.other.test", "other.test", "www.other.test"), ("a.www.shop.test", "www.shop.test", "a.www.shop.test"),
            ("www.shop.test", "test", "www.shop.test"), ("myshop.test", "shop.test", "otherDomain"),
            ("other.test", "shop.test", "otherDomain"), ("test", "test", "test"), ("10.2.3.4", "10.2.3.4", "10.2.3.4"),
        ]
    )
    mutating func sharedDomains(host: String, domain: String, expected: String) throws {
        session.rules = CookieRules(publicSuffixes: nil, sharedDomains: ["shop.test"])
        #expect(try result(of: "a=b; Domain=\(domain)", from: "https://\(host)/") == expected)
    }

    @Test("Shared domains do not matter to a jar with a list")
    mutating func sharedDomainsWithList() throws {
        session.rules.sharedDomains = ["co.test", "other.test"]
        #expect(try result(of: "a=b; Domain=co.test", from: "https://shop.co.test/") == "publicSuffix")
        #expect(try result(of: "a=b; Domain=shop.test", from: "https://www.shop.test/") == ".shop.test")
    }

    @Test("Shared domains may be given with Unicode letters or in upper case")
    func sharedDomainForms() {
        var rules = CookieRules(publicSuffixes: nil, sharedDomains: ["SHOP.test"])
        #expect(rules.sharedDomains == ["shop.test"])
        rules.sharedDomains = ["Bücher.test"]
        #expect(rules.sharedDomains == ["xn--bcher-kva.test"])
    }

    @Test(
        "Without a list, a cookie that expires with a Domain attribute removes those that other hosts set with it",
        arguments: [
            // The field and the host that sends it, and what is left of the cookies below.
            ("sid=; Domain=shop.test; Max-Age=0", "https://account.shop.test/", ["host", "path", "other", "secure"]),
            ("sid=; Domain=.SHOP.test; Max-Age=0", "https://shop.test/", ["host", "path", "other", "secure"]),
            ("sec=; Domain=shop.test; Max-Age=0", "https://account.shop.test/", ["sid", "host", "path", "other"]),
            ("sid=; Domain=other.test; Max-Age=0", "https://other.test/", nil),
            ("sid=; Domain=account.shop.test; Max-Age=0", "https://account.shop.test/", nil),
            ("sid=; Max-Age=0", "https://account.shop.test/", nil),
            ("sid=; Domain=shop.test; Path=/y; Max-Age=0", "https://account.shop.test/", nil),
            ("SID=; Domain=shop.test; Max-Age=0", "https://account.shop.test/", nil),
            // As with a shared cookie, an unencrypted connection leaves secure ones alone.
            ("sec=; Domain=shop.test; Max-Age=0", "http://account.shop.test/", nil),
        ] as [(String, String, [String]?)]
    )
    mutating func logout(field: String, url: String, left: [String]?) throws {
        session.rules = CookieRules(publicSuffixes: nil)
        for field in [
            "sid=sid; Domain=shop.test", "host=host", "sid=path; Domain=shop.test; Path=/x",
            "other=other; Domain=shop.test", "sec=secure; Domain=shop.test; Secure",
        ] {
            #expect(try session.receive(field, from: "https://login.shop.test/") == nil)
        }
        try session.receive(field, from: url)
        #expect(session.jar.cookies.map(\.value) == left ?? ["sid", "host", "path", "other", "secure"])
    }

    // MARK: Hosts

    @Test(
        "A request has a host, which may have a port but no user info",
        arguments: [
            "", ":443", "a b.test", "a..test", "a%2Etest", "[::1", "[]", "user@shop.test", "user:canary@shop.test",
            "shop.test@", "shop.test:80@other.test",
        ]
    )
    func invalidHost(authority: String) {
        #expect(CookieJar.Request(scheme: "https", authority: authority, path: "/") == nil)
        let redirected = CookieJar.Request(scheme: "https", authority: "a.test", path: "/", firstAuthority: authority)
        #expect(redirected == nil)
    }
}
