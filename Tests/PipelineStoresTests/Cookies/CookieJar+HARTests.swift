import Foundation
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("CookieJar, cookies in HAR", .watched)
struct CookieJarHARTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)
    private let rules = CookieRules(publicSuffixes: PublicSuffixList("test\n"))

    private func read(_ text: String) throws -> [CookieJar.Cookie] {
        try CookieJar(har: Data(text.utf8), rules: rules, at: now).cookies
    }

    /// Returns a file with entries that begin at a number of seconds after the current time of the tests.
    private func file(_ entries: String...) -> String {
        #"{"log": {"version": "1.2", "creator": {"name": "x"}, "entries": [\#(entries.joined(separator: ","))]}}"#
    }

    private func entry(
        _ response: String,
        _ url: String = "https://www.a.test/p/q?x#y",
        at seconds: Int = -100,
        time: String = "0"
    ) -> String {
        let start = (now + Double(seconds)).formatted(.iso8601)
        return #"""
            {"startedDateTime": "\#(start)", "time": \#(time), "request": {"method": "GET", "url": "\#(url)"},
             "response": {"status": 200, "content": {"text": "cookies"}, \#(response)}}
            """#
    }

    private func fields(_ values: String...) -> String {
        let list = values.map { #"{"name": "set-cookie", "value": "\#($0)"}"# }
        return #""headers": [{"name": "X", "value": "y=1"}, \#(list.joined(separator: ","))]"#
    }

    // MARK: Files

    @Test("Set-Cookie fields are stored as if the response had arrived at its recorded time")
    func stored() throws {
        let response = fields(
            "n=v 1; Domain=a.test; Path=/p; Max-Age=200; HttpOnly; Secure; SameSite=Strict",
            "m=\\\"w\\\""
        )
        let cookies = try read(file(entry(response, time: "5250")))
        #expect(cookies.map(\.name) == ["n", "m"])
        #expect(cookies.map(\.value) == ["v 1", "\"w\""])
        #expect(cookies.map(\.domain) == ["a.test", "www.a.test"])
        #expect(cookies.map(\.isHostOnly) == [false, true])
        #expect(cookies.map(\.path) == ["/p", "/p"])
        #expect(cookies.map(\.expiry) == [now - 94.75 + 200, nil])
        #expect(cookies.map(\.isSecure) == [true, false])
        #expect(cookies.map(\.isHTTPOnly) == [true, false])
        #expect(cookies.map(\.sameSite) == [.strict, nil])
        #expect(cookies.map(\.created) == [now - 94.75, now - 94.75])
    }

    @Test(
        "G09 A response with more than 1,000 header fields or cookies is skipped, and the next one is read",
        arguments: [1_000, 1_001]
    )
    func manyCookies(count: Int) throws {
        let element = #"{"name": "set-cookie", "value": "n=1"}"#
        let values = Array(repeating: "n=1", count: count).joined(separator: "\\n")
        let lists = [
            #""headers": [\#(Array(repeating: element, count: count).joined(separator: ","))]"#,
            #""headers": [{"name": "set-cookie", "value": "\#(values)"}]"#,
            #""cookies": [\#(Array(repeating: #"{"name": "n", "value": "1"}"#, count: count).joined(separator: ","))]"#,
        ]
        for list in lists {
            let names = try read(file(entry(list), entry(fields("m=1"), at: -50))).map(\.name)
            #expect(names == (count > 1_000 ? ["m"] : ["n", "m"]))
        }
    }

    @Test("Responses are taken in the order of their dates, and later ones replace and remove cookies")
    func order() throws {
        let entries = [
            entry(fields("a=3", "b=; Max-Age=0"), at: -10), entry(fields("a=1", "b=1"), at: -30),
            entry(fields("a=2", "c=2"), at: -20),
        ]
        let cookies = try read(file(entries[0], entries[1], entries[2]))
        #expect(cookies.map { "\($0.name)=\($0.value)" } == ["a=3", "c=2"])
    }

    @Test("Cookies that have expired since, and those that the rules refuse, are left out")
    func refused() throws {
        let cookies = try read(
            file(
                entry(
                    fields(
                        "old=1; Max-Age=99",
                        "good=1; Max-Age=101",
                        "other=1; Domain=b.test",
                        "suffix=1; Domain=test"
                    )
                ),
                entry(fields("plain=1; Secure"), "http://c.test/"),
                entry(fields("local=1; Secure"), "http://127.0.0.1:8080/cookies/set?k=v"),
                entry(fields("nowhere=1"), "about:blank"),
                entry(fields("user=1"), "https://u:p@d.test")
            )
        )
        #expect(cookies.map(\.name) == ["good", "local", "user"])
        #expect(cookies.map(\.domain) == ["www.a.test", "127.0.0.1", "d.test"])
    }

    @Test(
        "Forms of header fields that tools write are read",
        arguments: [
            #""headers": [{"name": "Set-Cookie", "value": "a=1; Path=/\nb=2"}]"#,
            #""headers": [{"name": "set-cookie", "value": ["a=1; Path=/", "b=2"]}]"#,
            #""headers": [["Set-Cookie", "a=1; Path=/"], ["Set-Cookie", "b=2"]]"#,
            #""headers": [null, 1, {"name": 1}, {"name": "set-cookie", "value": "a=1"}, {"name": "set-cookie", "value": "b=2"}]"#,
        ]
    )
    func forms(response: String) throws {
        #expect(try read(file(entry(response))).map(\.name) == ["a", "b"])
    }

    @Test("Without Set-Cookie fields, the array cookies is read, with its names as attributes of a field")
    func array() throws {
        let response = #"""
            "headers": [], "cookies": [
              {"name": "n", "value": "v", "path": "/", "domain": ".a.test", "expires": "2099-10-21T07:28:00.000Z",
               "httpOnly": true, "secure": true, "sameSite": "None"},
              {"name": "f", "value": "w"},
              {"name": "d", "value": "", "domain": "", "path": null, "expires": "Wed, 21 Oct 2099 07:28:00 GMT"},
              {"name": "e", "value": "x", "expires": "1970-01-01T00:00:00+00:00"},
              {"name": "i", "value": "v; Domain=a.test"}, {"name": "o", "value": "1", "domain": "b.test"},
              {"name": "u", "value": "1", "expires": 1, "secure": "yes", "path": "p"}, {"name": 1}, null]
            """#
        let cookies = try read(file(entry(response)))
        #expect(cookies.map(\.name) == ["n", "f", "d", "u"])
        #expect(cookies.map(\.domain) == ["a.test", "www.a.test", "www.a.test", "www.a.test"])
        #expect(cookies.map(\.path) == ["/", "/p", "/p", "/p"])
        #expect(cookies.map(\.isSecure) == [true, false, false, false])
        #expect(cookies.map(\.isHTTPOnly) == [true, false, false, false])
        #expect(cookies.map(\.sameSite) == [.unrestricted, nil, nil, nil])
        // A jar keeps cookies from responses for at most 400 days.
        let last = now - 100 + 400 * 86_400
        #expect(cookies.map(\.expiry) == [last, nil, last, nil])
    }

    @Test("Set-Cookie fields take precedence over the array cookies, unless they are redacted")
    func precedence() throws {
        let array = #""cookies": [{"name": "a", "value": "array"}]"#
        #expect(try read(file(entry(fields(#"a=\"field\""#) + "," + array))).map(\.value) == ["\"field\""])
        #expect(try read(file(entry(fields("a=REDACTED") + "," + array))).map(\.value) == ["array"])
    }

    @Test(
        "Redacted values are not cookies",
        arguments: ["REDACTED", "x-REDACTED-y", "[redacted]", "[sid Redacted]", "<REDACTED>"]
    )
    func redacted(value: String) throws {
        let array = #""headers": [], "cookies": [{"name": "a", "value": "\#(value)"}]"#
        #expect(try read(file(entry(fields("a=\(value); Path=/", "b=1")), entry(array))).map(\.name) == ["b"])
    }

    @Test("Entries without a date or a response, and malformed ones, do not hide the others")
    func lenient() throws {
        let undated = #"{"request": {"url": "https://a.test/"}, "response": {\#(fields("a=1"))}}"#
        let failed = #"{"request": {"url": "https://a.test/"}, "response": {"status": 0, "headers": null}, "time": -1}"#
        let cookies = try read("\u{FEFF}" + file("null", "{}", undated, failed, entry(fields("b=1"), time: "-1")))
        #expect(cookies.map(\.name) == ["b", "a"])
        #expect(cookies.map(\.created) == [now - 100, now])
    }

    @Test("A jar that is read from responses has at most the number of cookies that the rules allow")
    func bounds() throws {
        var rules = rules
        rules.jarBound.count = 3
        let text = file(entry(fields("a=1", "b=1", "c=1", "d=1", "e=1")))
        let jar = try CookieJar(har: Data(text.utf8), rules: rules, at: now)
        #expect(jar.cookies.map(\.name) == ["c", "d", "e"])
    }

    @Test(
        "Data that is not a HAR file is an error without its content",
        arguments: ["", "canary", "[", #"{"log": {"canary": []}}"#, #"{"entries": []}"#, #""canary""#, "[1"]
    )
    func malformed(text: String) {
        let error = #expect(throws: CookieJar.ImportError.self) { try read(text) }
        #expect(error?.reason == .content)
        #expect(error?.index == nil)
        #expect(error?.description.contains("canary") == false)
        #expect(error?.localizedDescription == error?.description)
    }

    // MARK: Arrays of cookies

    @Test("Cookies are written with the members of HAR 1.2 and sameSite")
    func text() throws {
        var jar = CookieJar()
        let shared = CookieJar.Cookie(
            "n",
            "v/\"",
            domain: "a.test",
            isHostOnly: false,
            path: "/p",
            expiry: Date(timeIntervalSince1970: 1_800_000_000.25),
            sameSite: .unrestricted,
            created: now
        )
        jar.insert([
            shared, .init("m", "", domain: "b.test", isSecure: false, isHTTPOnly: false, created: now),
            .init("left=out", "", domain: "b.test", created: now),
        ])
        #expect(
            jar.harText() == #"""
                [
                  {
                    "domain" : ".a.test",
                    "expires" : "2027-01-15T08:00:00.250Z",
                    "httpOnly" : true,
                    "name" : "n",
                    "path" : "/p",
                    "sameSite" : "None",
                    "secure" : true,
                    "value" : "v/\""
                  },
                  {
                    "domain" : "b.test",
                    "httpOnly" : false,
                    "name" : "m",
                    "path" : "/",
                    "secure" : false,
                    "value" : ""
                  }
                ]
                """#
        )
    }

    @Test(
        "An expiry that ISO 8601 cannot express is written as the nearest one",
        arguments: [
            (-5.0, "1970-01-01T00:00:00.000Z"), (1e300, "9999-12-31T23:59:59.000Z"),
            (.infinity, "9999-12-31T23:59:59.000Z"), (.nan, "1970-01-01T00:00:00.000Z"),
        ]
    )
    func extremeExpiry(seconds: Double, written: String) {
        var cookie = CookieJar.Cookie.lasting("n")
        cookie.expiry = Date(timeIntervalSince1970: seconds)
        var jar = CookieJar()
        jar.insert([cookie])
        #expect(jar.harText().contains("\"expires\" : \"\(written)\""))
    }

    @Test("A written jar is read back, except for dates of creation and access; expired cookies are left out")
    func roundTrip() throws {
        var jar = CookieJar()
        for (index, text) in ["", "v", "=a=b", #""q""#, "é#", "x y", "tab\tv"].enumerated() {
            jar.insert([
                CookieJar.Cookie(
                    index == 2 ? "" : "n\(index)",
                    text,
                    domain: index == 3 ? "::1" : "a\(index).test",
                    isHostOnly: index % 2 == 0,
                    path: "/\(index)",
                    expiry: index % 3 == 0 ? nil : now + 1_000_000.5,
                    isSecure: index % 2 == 1,
                    isHTTPOnly: index < 3,
                    sameSite: [nil, .strict, .lax, .unrestricted][index % 4],
                    created: now
                )
            ])
        }
        let text = jar.harText()
        #expect(try CookieJar(har: Data(text.utf8), at: now) == jar)
        #expect(try CookieJar(har: Data(text.utf8), at: now + 2_000_000).cookies.map(\.name) == ["n0", "n3", "n6"])
        #expect(CookieJar().harText().filter { !$0.isWhitespace } == "[]")
    }

    @Test(
        "A malformed cookie in an array is reported by its position, without its content",
        arguments: [
            "1", "null", "{}", #"{"name": "canary", "value": "v"}"#, #"{"name": "n", "domain": "canary.test"}"#,
            #"{"name": "n", "value": "canary", "domain": "a canary"}"#,
            #"{"name": "n", "value": "canary; x", "domain": "a.test"}"#,
        ]
    )
    func malformedCookie(json: String) {
        let text = #"[{"name": "n", "value": "v", "domain": "a.test"}, \#(json)]"#
        let error = #expect(throws: CookieJar.ImportError.self) { try read(text) }
        #expect(error?.index == 1)
        #expect(error?.description.contains("cookie 1") == true)
        var dumped = ""
        if let error { dump(error, to: &dumped) }
        #expect(!dumped.contains("canary"))
    }
}
