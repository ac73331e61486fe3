import Foundation
import HTTPTypes
import Pipeline
import Testing

@Suite("Redactor")
struct RedactorTests {
    private let redactor = Redactor.standard

    private func json(_ text: String) -> String {
        redactor.bodyText(Data(text.utf8), contentType: "application/json", limit: 1_000)
    }

    // MARK: Header fields

    @Test(
        "A header field is shown by its name, and its value only when it is on the list",
        arguments: [
            ("Accept", "text/html", "text/html"),
            ("Content-Length", "12", "12"),
            ("Retry-After", "120", "120"),
            ("Host", "a.test", "a.test"),
            ("X-RateLimit-Remaining", "3", "3"),
            ("Authorization", "Bearer canary", "…"),
            ("Cookie", "id=canary", "…"),
            ("Set-Cookie", "id=canary; Path=/", "…"),
            ("Proxy-Authorization", "Basic canary", "…"),
            ("Proxy-Authenticate", "Digest nonce=canary", "…"),
            ("X-Api-Key", "canary", "…"),
            ("X-Nobody-Thought-Of", "canary", "…"),
            ("Link", "<https://a.test/?token=canary>; rel=next", "…"),
        ]
    )
    func headerField(name: String, value: String, shown: String) throws {
        let field = HTTPField(name: try #require(HTTPField.Name(name)), value: value)
        let fields = redactor.fields(HTTPFields([field]))
        #expect(fields.map(\.name) == [name])
        #expect(fields.map(\.value) == [shown])
    }

    @Test("Repeated header fields stay repeated and in order")
    func repeatedFields() {
        let fields: HTTPFields = [.vary: "a", .setCookie: "x", .vary: "b"]
        let shown = redactor.fields(fields)
        #expect(shown.map(\.name) == ["Vary", "Set-Cookie", "Vary"])
        #expect(shown.map(\.value) == ["a", "…", "b"])
    }

    @Test("A field that is marked as secret is hidden although it is on the list")
    func markedSecret() {
        let fields = redactor.fields([.eTag: "canary", .location: "/canary"]) { $0 == .eTag || $0 == .location }
        #expect(fields.map(\.value) == ["…", "…"])
    }

    @Test("Authorization and cookies cannot be put on the list")
    func alwaysSecret() {
        let names: Set<HTTPField.Name> = [.authorization, .cookie, .setCookie, .proxyAuthorization]
        let redactor = Redactor(shownHeaderFields: names)
        for name in names {
            #expect(redactor.fields(HTTPFields([HTTPField(name: name, value: "canary")])).map(\.value) == ["…"])
        }
    }

    @Test("A field can be added to the list")
    func extendedList() throws {
        let name = try #require(HTTPField.Name("X-Trace"))
        let redactor = Redactor(shownHeaderFields: Redactor.standardHeaderFields.union([name]))
        #expect(redactor.fields(HTTPFields([HTTPField(name: name, value: "7")])).map(\.value) == ["7"])
    }

    @Test("Control characters in a value are shown as escapes", arguments: ["\u{85}", "\u{202e}abc", "\u{2028}abc"])
    func controls(value: String) {
        let shown = redactor.fields([.server: value]).map(\.value).joined()
        #expect(shown.hasPrefix("\\u{"))
        let controls: Set<Unicode.Scalar> = ["\u{85}", "\u{202e}", "\u{2028}"]
        #expect(controls.isDisjoint(with: shown.unicodeScalars))
    }

    // MARK: URLs

    @Test(
        "A URL is shown without query values, fragment, user name and password",
        arguments: [
            ("https://a.test/b/c", "https://a.test/b/c"),
            ("https://a.test/b?page=canary&token=canary", "https://a.test/b?page=…&token=…"),
            ("https://a.test/b?canary", "https://a.test/b?…"),
            ("https://a.test/b?a=canary?b=canary", "https://a.test/b?a=…"),
            ("https://a.test/b?a==canary&&b=", "https://a.test/b?a=…&&b=…"),
            ("https://a.test/b?=canary", "https://a.test/b?=…"),
            ("https://a.test/b?", "https://a.test/b?"),
            ("https://a.test/b?a=\u{301}canary", "https://a.test/b?a=…"),
            ("https://a.test/b?\u{301}a=canary", "https://a.test/b?\u{301}a=…"),
            ("https://a.test/#access_token=canary", "https://a.test/#…"),
            ("https://a.test/#\u{301}canary", "https://a.test/#…"),
            ("https://canary:canary@a.test/b", "https://…@a.test/b"),
            ("https://canary@canary@a.test", "https://…@a.test"),
            ("https://canary\\canary@a.test/b", "https://…@a.test/b"),
            ("//canary:canary@a.test/b@c", "//…@a.test/b@c"),
            ("https:\\\\canary@a.test", "https:…"),
            ("canary:canary@a.test", "canary:…"),
            ("can_ary:canary@a.test/b", "…@a.test/b"),
            ("mailto:canary@a.test", "mailto:…"),
            ("https://canary:canary#canary@a.test/b", "https://…#…"),
            ("//canary:canary?canary@a.test/b", "//…?…"),
            ("https://a.test:8080/b", "https://a.test:8080/b"),
            ("https://[fe80::1]:8080/b", "https://[fe80::1]:8080/b"),
            ("https://[fe80::1]/b", "https://[fe80::1]/b"),
            ("/b?code=canary", "/b?code=…"),
            ("?code=canary", "?code=…"),
            ("", ""),
        ]
    )
    func url(text: String, shown: String) {
        #expect(Data(redactor.url(text).utf8) == Data(shown.utf8))
    }

    @Test("The value of a query parameter on the list is shown, whatever form its name is written in")
    func shownQueryNames() {
        let redactor = Redactor(shownQueryNames: ["page", "per page"])
        #expect(
            redactor.url("/?page=2&%70age=3&per+page=4&per%20page=5&Page=6&x=7")
                == "/?page=2&%70age=3&per+page=4&per%20page=5&Page=…&x=…"
        )
    }

    @Test("The URL of a request has its scheme, host and path")
    func urlOfRequest() throws {
        let request = try PipelineRequest(url: "https://a.test:8443/b?c=canary")
        #expect(redactor.url(of: request) == "https://a.test:8443/b?c=…")
    }

    @Test(
        "Fields that hold a URL follow the rule for URLs",
        arguments: [.location, .referer, .contentLocation] as [HTTPField.Name]
    )
    func urlFields(name: HTTPField.Name) {
        let field = HTTPField(name: name, value: "https://u:canary@a.test/b?code=canary&state=canary#canary")
        #expect(redactor.fields(HTTPFields([field])).map(\.value) == ["https://…@a.test/b?code=…&state=…#…"])
    }

    // MARK: JSON

    @Test(
        "The value of a secret name is hidden in JSON at any depth, and all else stays as it was written",
        arguments: [
            (#"{"user":"bob","password":"canary"}"#, #"{"user":"bob","password":"…"}"#),
            (#"{ "b" : 1.50, "a":[1e3,-0, true,null] }"#, #"{ "b" : 1.50, "a":[1e3,-0, true,null] }"#),
            (#"[{"a":{"access_token":"canary"}}]"#, #"[{"a":{"access_token":"…"}}]"#),
            (#"{"card":{"number":"canary","x":["canary"]},"b":2}"#, #"{"card":"…","b":2}"#),
            (#"{"token":["canary",{"a":"canary"}]}"#, #"{"token":"…"}"#),
            (#"{"pin":1234,"otp":true,"cvv":null}"#, #"{"pin":"…","otp":"…","cvv":null}"#),
            (#"{"pass\u0077ord":"canary"}"#, #"{"pass\u0077ord":"…"}"#),
            (#"{"a":"say \"hi\" \\"}"#, #"{"a":"say \"hi\" \\"}"#),
            (#"{"password":"a\"canary"}"#, #"{"password":"…"}"#),
            (#"{"password" : "canary" , "a":1}"#, #"{"password" : "…", "a":1}"#),
            (#"{"password":"canary","password":"canary"}"#, #"{"password":"…","password":"…"}"#),
            (#""text""#, #""text""#),
            ("{}", "{}"),
        ]
    )
    func jsonBody(body: String, shown: String) {
        #expect(json(body) == shown)
    }

    @Test(
        "A name is secret by a long word in it or by a short word that is one of its parts",
        arguments: [
            ("password", true), ("PASSWORD", true), ("newPassword", true), ("password_confirmation", true),
            ("passwd", true), ("client-secret", true), ("clientSecret", true), ("refreshToken", true),
            ("id_token", true),
            ("api_key", true), ("apiKey", true), ("X-Api-Key", true), ("APIKEY", true), ("authorization", true),
            ("sessionId", true), ("pin", true), ("cardPin", true), ("card_cvv", true), ("user[pin]", true),
            ("OTP", true),
            ("Set-Cookie", true), ("privateKey", true),
            ("shipping", false), ("name", false), ("key", false), ("code", false), ("author", false),
            ("cardinal", false),
            ("passenger", false), ("spin", false), ("company", false), ("", false),
        ]
    )
    func secretNames(name: String, isSecret: Bool) {
        let shown = json("{\"\(name)\":\"canary\"}")
        #expect(shown.contains("canary") == !isSecret)
    }

    @Test("Secret names can be added")
    func moreSecretNames() {
        let redactor = Redactor(secretNames: Redactor.standardSecretNames.union(["Favourite-Colour"]))
        let body = Data(#"{"favouriteColour":"canary"}"#.utf8)
        #expect(!redactor.bodyText(body, contentType: "application/json", limit: 100).contains("canary"))
        #expect(self.redactor.bodyText(body, contentType: "application/json", limit: 100).contains("canary"))
    }

    @Test(
        "JSON that is cut or malformed is shown by its size alone",
        arguments: [
            #"{"password":"canary"#, #"{"password":"canary""#, #"{"a":1,}"#, #"{"a":"canary"} x"#, #"{"a" "canary"}"#,
            "[1 2]", "[1.2.3]", "[01]", "[1e]", "[+1]", "[\"\\q\"]", "[\"\\u12\"]", "{'a':'canary'}", "nul",
            "{\"a\":\"\n\"}", "[", "canary", "{\"a\":\"\\",
            String(repeating: "[", count: 100_000),
        ]
    )
    func malformedJSON(body: String) {
        #expect(
            redactor.bodyText(Data(body.utf8), contentType: "application/json", limit: 1_000)
                == "<\(body.utf8.count) bytes of application/json>"
        )
        #expect(
            redactor.bodyText(Data(body.utf8), contentType: "application/problem+json; charset=utf-8", limit: 1_000)
                == "<\(body.utf8.count) bytes of application/problem+json>"
        )
    }

    @Test("JSON and URLs inside the strings of JSON follow their rules too")
    func nestedText() {
        let body =
            #"{"url":"https:\/\/a.test\/?token=canary","data":"{\"password\":\"canary\",\"a\":1}","note":"see [x]: b"}"#
        let shown = json(body)
        #expect(!shown.contains("canary"))
        #expect(shown.contains("a.test"))
        #expect(shown.contains(#"\"a\":1"#))
        #expect(shown.contains(#""note":"see [x]: b""#))
        #expect(!json(#"{"data":"{\"password\":\"canary"}"#).contains("canary"))
    }

    @Test("JSON in another encoding than UTF-8 is shown by its size alone")
    func utf16() throws {
        let data = try #require(#"{"password":"canary"}"#.data(using: .utf16LittleEndian))
        #expect(
            redactor.bodyText(data, contentType: "application/json", limit: 100)
                == "<\(data.count) bytes of application/json>"
        )
    }

    // MARK: Forms and text

    @Test(
        "The value of a secret name is hidden in a form",
        arguments: [
            ("user=bob&password=canary&x=1", "user=bob&password=…&x=1"),
            ("pass%77ord=canary", "pass%77ord=…"),
            ("user%5Bpin%5D=canary", "user%5Bpin%5D=…"),
            ("password=\u{301}canary", "password=…"),
            ("canary", "…"),
            (#"{"password":"canary=="}"#, "<23 bytes of application/x-www-form-urlencoded>"),
        ]
    )
    func form(body: String, shown: String) {
        #expect(
            redactor.bodyText(Data(body.utf8), contentType: "application/x-www-form-urlencoded", limit: 100) == shown
        )
    }

    @Test(
        "Other text is shown when none of its words is a secret name",
        arguments: [
            ("text/plain", "hello, wörld", "hello, wörld"),
            ("text/plain", "access_token=canary", "<19 bytes of text/plain>"),
            ("text/plain", #"{"password":"canary"}"#, #"{"password":"…"}"#),
            ("text/xml", "<a><Password>canary</Password></a>", "<34 bytes of text/xml>"),
            ("application/x-ndjson", "{\"token\":\"canary\"}\n{}", "<21 bytes of application/x-ndjson>"),
            ("text/plain; charset=unheard-of", "canary", "<6 bytes of text/plain>"),
        ]
    )
    func text(type: String, body: String, shown: String) {
        #expect(redactor.bodyText(Data(body.utf8), contentType: type, limit: 100) == shown)
    }

    @Test("A body without a type is redacted as what it looks like")
    func withoutType() {
        #expect(redactor.bodyText(Data("hello".utf8), contentType: nil, limit: 9) == "hello")
        #expect(redactor.bodyText(Data(#"{"pin":1}"#.utf8), contentType: nil, limit: 99) == #"{"pin":"…"}"#)
        #expect(redactor.bodyText(Data([0xff, 0xd8]), contentType: nil, limit: 9) == "<2 bytes of unknown type>")
        #expect(redactor.bodyText(Data([0x41, 0x00]), contentType: nil, limit: 9) == "<2 bytes of unknown type>")
    }

    @Test(
        "A binary body is described",
        arguments: ["image/png", "multipart/form-data; boundary=x", "application/octet-stream"]
    )
    func binary(type: String) {
        let essence = type.prefix { $0 != ";" }
        #expect(redactor.bodyText(Data("canary".utf8), contentType: type, limit: 100) == "<6 bytes of \(essence)>")
    }

    @Test("Compressed bytes are described, whatever their type says")
    func compressed() {
        let gzip = Data([0x1f, 0x8b, 0x08, 0x00, 0x41, 0x42])
        #expect(redactor.bodyText(gzip, contentType: "application/json", limit: 100) == "<6 bytes of application/json>")
        #expect(redactor.bodyText(gzip, contentType: "text/plain", limit: 100) == "<6 bytes of text/plain>")
    }

    // MARK: Limits

    @Test("Text is cut at the limit, between characters, and says how much there is")
    func cut() {
        #expect(redactor.bodyText(Data("aäöü".utf8), contentType: "text/plain", limit: 4) == "aä <cut, 7 bytes in all>")
        #expect(redactor.bodyText(Data("aäöü".utf8), contentType: "text/plain", limit: 7) == "aäöü")
        #expect(redactor.bodyText(Data("abc".utf8), contentType: "text/plain", limit: 0) == "<3 bytes of text/plain>")
    }

    @Test("JSON is redacted before it is cut")
    func redactedThenCut() {
        let body = Data(#"{"a":1,"password":"canary"}"#.utf8)
        for limit in 1..<body.count {
            #expect(!redactor.bodyText(body, contentType: "application/json", limit: limit).contains("can"))
        }
    }

    @Test("JSON and forms larger than the bound are shown by their size, other text is cut")
    func parsedBodyByteCount() {
        let redactor = Redactor(parsedBodyByteCount: 10)
        #expect(
            redactor.bodyText(Data("[1,2,3,4,5]".utf8), contentType: "application/json", limit: 99)
                == "<11 bytes of application/json>"
        )
        #expect(
            redactor.bodyText(Data("a=1&b=2&c=3".utf8), contentType: "application/x-www-form-urlencoded", limit: 99)
                .hasPrefix("<11 bytes")
        )
        #expect(
            redactor.bodyText(Data("0123456789ä".utf8), contentType: "text/plain", limit: 11)
                == "0123456789 <cut, 12 bytes in all>"
        )
    }

    // MARK: Everything

    @Test("A redactor that reveals secrets hides nothing but user names and passwords in URLs")
    func revealing() {
        let redactor = Redactor.revealingSecrets
        #expect(redactor.fields([.authorization: "Bearer x"]) { _ in true }.map(\.value) == ["Bearer x"])
        #expect(redactor.fields([.location: "https://u:p@a.test/?b=c"]).map(\.value) == ["https://…@a.test/?b=c"])
        #expect(redactor.url("https://u:p@a.test/?token=x#y") == "https://…@a.test/?token=x#y")
        #expect(
            redactor.bodyText(Data(#"{"pin":1}"#.utf8), contentType: "application/json", limit: 99) == #"{"pin":1}"#
        )
        #expect(redactor.bodyText(Data(#"{"pin":"#.utf8), contentType: "application/json", limit: 99) == #"{"pin":"#)
    }
}
