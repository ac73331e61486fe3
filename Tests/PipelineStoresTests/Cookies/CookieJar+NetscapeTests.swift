import Foundation
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("CookieJar, Netscape cookie files", .watched)
struct CookieJarNetscapeTests {
    private let now = CookieJar.Cookie.date

    private func read(_ text: String) throws -> [CookieJar.Cookie] {
        try CookieJar(netscape: text, at: now).cookies
    }

    // MARK: Reading

    @Test("An imported jar obeys the limits of a live one: 3000 cookies, 180 of a site, 4096 bytes, in linear time")
    func limits() throws {
        let rules = CookieRules(publicSuffixes: PublicSuffixList("test"))
        let lines = (0..<100_000).map { "h\($0 % 1_000).s\($0 % 100).test\tFALSE\t/\tFALSE\t0\tn\($0)\tv\n" }
        let many = try CookieJar(netscape: lines.joined(), rules: rules, at: now)
        #expect(many.cookies.count == 3_000)
        let site = try CookieJar(netscape: lines.filter { $0.contains(".s7.") }.joined(), rules: rules, at: now)
        #expect(site.cookies.count == 180)
        #expect(site.cookies.last?.name == "n99907")
        let long = String(repeating: "v", count: 4_096)
        let sized = try read("a.test\tFALSE\t/\tFALSE\t0\t\t\(long)\na.test\tFALSE\t/\tFALSE\t0\tn\t\(long)\n")
        #expect(sized.map(\.name) == [""])
    }

    @Test("The seven fields of a line are read")
    func fields() throws {
        let cookies = try read(".A.test\tTRUE\t/p\tTRUE\t1800000000\tn\tv=1\nb.test\tFALSE\t/\tFALSE\t0\tm\t\"w\"\n")
        let first = CookieJar.Cookie(
            "n",
            "v=1",
            domain: "a.test",
            isHostOnly: false,
            path: "/p",
            expiry: Date(timeIntervalSince1970: 1_800_000_000),
            isHTTPOnly: false,
            created: now
        )
        var second = CookieJar.Cookie("m", #""w""#, domain: "b.test", isSecure: false, isHTTPOnly: false, created: now)
        second.order = 1
        #expect(cookies == [first, second])
    }

    @Test("An imported cookie of a public suffix, such as .localhost, is sent to that host only, and renewed by it")
    func publicSuffix() throws {
        var session = CookieSession()
        let lines = ".localhost\tTRUE\t/\tFALSE\t0\ta\t1\n.co.test\tTRUE\t/\tFALSE\t0\tb\t2\n"
        session.jar = try CookieJar(netscape: lines, rules: session.rules, at: session.now)
        #expect(try session.sent(to: "http://localhost/") == "a=1")
        #expect(try session.sent(to: "http://a.localhost/") == nil)
        #expect(try session.sent(to: "http://co.test/") == "b=2")
        #expect(try session.sent(to: "http://shop.co.test/") == nil)
        try session.receive("a=3; Path=/", from: "http://localhost/")
        #expect(try session.sent(to: "http://localhost/") == "a=3")
    }

    @Test("#HttpOnly_ marks a cookie, and other lines with # and blank lines are ignored; lines may end in CRLF")
    func comments() throws {
        let text =
            "# Netscape\r\n\r\n \t\r\n#HttpOnly_.a.test\ttrue\t/\tfalse\t0\tn\tv\r\n#httponly_b\r\n"
            + "b.test\tFALSE\t/\tFALSE\t0\tm\tw"
        let cookies = try read(text)
        #expect(cookies.map(\.domain) == ["a.test", "b.test"])
        #expect(cookies.map(\.isHTTPOnly) == [true, false])
        #expect(cookies.map(\.isHostOnly) == [false, true])
        #expect(cookies.map(\.value) == ["v", "w"])
    }

    @Test(
        "Lines with missing fields are read as curl and Python read them",
        arguments: [
            ("a.test\tFALSE\t/\tFALSE\t0\tn\t", "n", "", "/"),
            ("a.test\tFALSE\t/\tFALSE\t0\tn", "n", "", "/"),
            ("a.test\tFALSE\t/\tFALSE\t0\t\tv", "", "v", "/"),
            ("a.test\tFALSE\t/\tFALSE\t\tn\tv", "n", "v", "/"),
            ("a.test\tFALSE\tFALSE\t0\tn\tv", "n", "v", "/"),
            ("a.test\tFALSE\tFALSE\t0\tn", "n", "", "/"),
            ("a.test\tFALSE\t/p\tFALSE\t0\tn\tv w", "n", "v w", "/p"),
            ("a.test\tFALSE\t/p\tFALSE\t0\t n  \t v w ", "n", "v w", "/p"),
            ("\u{FEFF}a.test\tFALSE\t/\tFALSE\t0\tn\tv", "n", "v", "/"),
        ]
    )
    func missingFields(line: String, name: String, value: String, path: String) throws {
        let cookies = try read(line)
        #expect(cookies.map(\.name) == [name])
        #expect(cookies.map(\.domain) == ["a.test"])
        #expect(cookies.map(\.value) == [value])
        #expect(cookies.map(\.path) == [path])
        #expect(cookies.allSatisfy { $0.expiry == nil })
    }

    @Test("An expiry may have a fraction, and expired cookies are left out")
    func expiry() throws {
        let line = { (seconds: String) in "a.test\tFALSE\t/\tFALSE\t\(seconds)\tn\(seconds)\tv\n" }
        let cookies = try read(["1700000001.5", "1700000000", "-1", "1"].map(line).joined())
        #expect(cookies.map(\.expiry) == [Date(timeIntervalSince1970: 1_700_000_001.5)])
    }

    @Test("A later line replaces an earlier one with its name, domain and path")
    func replaced() throws {
        let cookies = try read("a.test\tFALSE\t/\tFALSE\t0\tn\tv\na.test\tFALSE\t/\tFALSE\t0\tn\tw\n")
        #expect(cookies.map(\.value) == ["w"])
    }

    @Test(
        "A malformed line is reported by its number, without its content",
        arguments: [
            ("canary", CookieJar.ImportError.Reason.fieldCount),
            ("a.test\tFALSE\t/\tFALSE\tcanary", .fieldCount),
            ("a.test\tFALSE\t/\tFALSE\t0\tn\tv\tcanary", .fieldCount),
            ("a.test\tcanary\t/\tFALSE\t0\tn\tv", .flag),
            ("a.test\tFALSE\t/\tcanary\t0\tn\tv", .flag),
            ("a.test\tFALSE\t/\tFALSE\tcanary\tn\tv", .expiry),
            ("a.test\tFALSE\t/\tFALSE\tnan\tcanary\tv", .expiry),
            ("\tFALSE\t/\tFALSE\t0\tcanary\tv", .domain), ("a canary\tFALSE\t/\tFALSE\t0\tn\tv", .domain),
            ("a.test\tFALSE\t/canary\tFALSE\t0\t\t", .character),
            ("a.test\tFALSE\t/\tFALSE\t0\tn\tcanary;x=y", .character),
            ("a.test\tFALSE\t/\tFALSE\t0\tcanary=n\tv", .character),
            ("a.test\tFALSE\t/\tFALSE\t0\tn\tcanary\rv", .character),
            ("a.test\tFALSE\t/\tFALSE\t0\tn\tcanary\0", .character),
        ]
    )
    func malformed(line: String, reason: CookieJar.ImportError.Reason) {
        let text = "# comment\n\na.test\tFALSE\t/\tFALSE\t0\tn\tv\n\(line)\n"
        let error = #expect(throws: CookieJar.ImportError.self) { try read(text) }
        #expect(error?.line == 4)
        #expect(error?.reason == reason)
        var dumped = ""
        if let error { dump(error, to: &dumped) }
        #expect(dumped.contains("line 4 of the cookie file"))
        #expect(!dumped.contains("canary"))
        #expect(error?.localizedDescription == error?.description)
    }

    // MARK: Writing

    @Test("Cookies are written as lines with seven fields")
    func text() {
        var jar = CookieJar()
        var shared = CookieJar.Cookie("n", "v", domain: "a.test", isHostOnly: false, path: "/p", created: now)
        shared.expiry = Date(timeIntervalSince1970: 1_800_000_000.9)
        let plain = CookieJar.Cookie("m", "", domain: "b.test", isSecure: false, isHTTPOnly: false, created: now)
        jar.insert([shared, plain])
        #expect(
            jar.netscapeText() == "# Netscape HTTP Cookie File\n\n"
                + "#HttpOnly_.a.test\tTRUE\t/p\tTRUE\t1800000000\tn\tv\n"
                + "b.test\tFALSE\t/\tFALSE\t0\tm\t\n"
        )
    }

    @Test("An IPv6 address is written without brackets, as curl expects it")
    func address() {
        var jar = CookieJar()
        jar.insert([CookieJar.Cookie("n", "v", domain: "[::1]", isHTTPOnly: false, created: now)])
        #expect(jar.netscapeText().hasSuffix("\n::1\tFALSE\t/\tTRUE\t0\tn\tv\n"))
    }

    @Test(
        "An expiry outside of the range of the format is not written as 0, which means none",
        arguments: [(-5.0, 1), (0, 1), (0.5, 1), (1e300, 253_402_300_799), (.infinity, 253_402_300_799), (.nan, 1)]
    )
    func extremeExpiry(seconds: Double, written: Int) {
        var cookie = CookieJar.Cookie.lasting("n")
        cookie.expiry = Date(timeIntervalSince1970: seconds)
        var jar = CookieJar()
        jar.insert([cookie])
        #expect(jar.netscapeText().contains("\t\(written)\tn\t"))
    }

    @Test("Cookies that would break the format are left out", arguments: ["\t", "\n", "\r", "\0", "\u{7f}", ";"])
    func unwritable(text: String) {
        var jar = CookieJar()
        jar.insert([
            .lasting("n\(text)"), .lasting("n", "v\(text)w"), .lasting("good"),
            CookieJar.Cookie("n", "v", domain: "a.test\(text)", created: now),
            CookieJar.Cookie("n=", "v", domain: "a.test", created: now),
            CookieJar.Cookie("n", "v ", domain: "a.test", path: "/b", created: now),
        ])
        if text != ";" { jar.insert([CookieJar.Cookie("n", "v", domain: "a.test", path: "/\(text)", created: now)]) }
        let lines = jar.netscapeText().split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.last?.contains("\tgood\t") == true)
    }

    @Test("A written jar is read back, except for SameSite and dates of creation and access")
    func roundTrip() throws {
        var jar = CookieJar()
        for (index, text) in ["", "v", "=a=b", #""q""#, "é#", "x y"].enumerated() {
            jar.insert([
                CookieJar.Cookie(
                    index == 2 ? "" : "n\(index)",
                    text,
                    domain: index == 3 ? "::1" : "a\(index).test",
                    isHostOnly: index % 2 == 0,
                    path: "/\(index)",
                    expiry: index % 3 == 0 ? nil : now + 1_000_000,
                    isSecure: index % 2 == 1,
                    isHTTPOnly: index < 3,
                    created: now
                )
            ])
        }
        let read = try CookieJar(netscape: jar.netscapeText(), at: now)
        #expect(read.cookies.count == 6)
        for (read, written) in zip(read.cookies, jar.cookies) {
            var rounded = written
            rounded.expiry = written.expiry.map { _ in Date(timeIntervalSince1970: 1_701_000_000) }
            #expect(read == rounded)
        }
        #expect(try CookieJar(netscape: read.netscapeText(), at: now) == read)
    }
}
