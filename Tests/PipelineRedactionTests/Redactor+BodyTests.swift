import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("Redactor, bodies", .watched)
struct RedactorBodyTests {
    private let redactor = Redactor.standard

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
        "Other text is shown if none of its words is a secret name",
        arguments: [
            ("text/plain", "hello, wörld", "hello, wörld"),
            ("text/plain", "access_token=canary", "<19 bytes of text/plain>"),
            ("text/plain", #"{"password":"canary"}"#, #"{"password":"…"}"#),
            ("text/xml", "<a><Password>canary</Password></a>", "<34 bytes of text/xml>"),
            ("application/x-ndjson", "{\"token\":\"canary\"}\n{}", "<21 bytes of application/x-ndjson>"),
            ("text/plain; charset=unheard-of", "canary", "<6 bytes of text/plain>"),
            ("text/plain", "see postgres://bob:canary@db/x", "see postgres://…@db/x"),
            (
                "text/plain", "a\n-----BEGIN EC PRIVATE KEY-----\ncan\nary\n-----END EC PRIVATE KEY-----\nb",
                "a\n-----BEGIN EC PRIVATE KEY-----\n…\n-----END EC PRIVATE KEY-----\nb"
            ),
            ("text/plain", "-----BEGIN CERTIFICATE-----\nAA", "-----BEGIN CERTIFICATE-----\nAA"),
            ("application/graphql", "{ login(pin: 1234) }", "<20 bytes of application/graphql>"),
        ]
    )
    func text(type: String, body: String, shown: String) {
        #expect(redactor.bodyText(Data(body.utf8), contentType: type, limit: 100) == shown)
    }

    @Test("UTF-8 is shown as UTF-8, whatever its charset says", arguments: ["utf-16", "utf-16be", "iso-8859-1"])
    func wrongCharset(charset: String) {
        let redactor = Redactor(secretValues: ["canary-é"])
        for body in [#"{"pin":"1234","b":"canary-é"}"#, #"{"pin":"1234","b":"canary-é!"}"#] {
            let shown = redactor.bodyText(
                Data(body.utf8),
                contentType: "application/json; charset=\(charset)",
                limit: 100
            )
            #expect(shown == body.replacing("1234", with: "…").replacing("canary-é", with: "…"))
        }
    }

    @Test("A body without a type is redacted according to its content")
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

    @Test("Text is cut at the limit, between characters, and followed by its full size")
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
}
