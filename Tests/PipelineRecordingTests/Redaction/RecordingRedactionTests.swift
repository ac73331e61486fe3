import Foundation
import HTTPTypes
import Pipeline
import PipelineRecording
import PipelineTesting
import Testing

@Suite("Redaction of recordings", .timeLimit(.minutes(10)))
struct RecordingRedactionTests {
    private let redaction = RecordingRedaction(Redactor(secretValues: ["declared-value", "12345678"]))

    @Test(
        "user names, passwords and values of secret names are hidden in URLs",
        arguments: [
            ("https://h/a?x=1&token=abc&y=2", "https://h/a?x=1&token=REDACTED&y=2"),
            ("https://user:pw@h/a", "https://REDACTED@h/a"),
            ("https://h/a#access_token=abc&x=1", "https://h/a#access_token=REDACTED&x=1"),
            ("/a?api%5Fkey=abc", "/a?api%5Fkey=REDACTED"), ("//user@h/", "//REDACTED@h/"),
            ("https://h/declared-value/a", "https://h/REDACTED/a"),
            ("https://h/?q=declared%2Dvalue", "https://h/?q=REDACTED"),
            (
                "https://h/?next=https%3A%2F%2Fg%2F%3Ftoken%3Dabc",
                "https://h/?next=https%3A%2F%2Fg%2F%3Ftoken%3DREDACTED"
            ),
            ("https://h/?f=%7B%22pin%22%3A%20%221%22%7D", "https://h/?f=%7B%22pin%22%3A%20%22REDACTED%22%7D"),
            ("https://h/?token=", "https://h/?token="), ("https://h/?token", "https://h/?token"),
            ("https://h/a%2Fb?x=%41+b&&c", "https://h/a%2Fb?x=%41+b&&c"),
        ]
    )
    func urls(url: String, expected: String) {
        #expect(redaction.url(url) == expected)
        #expect(redaction.url(expected) == expected)
    }

    @Test(
        "of secret fields the scheme and the names of cookies stay",
        arguments: [
            ("Authorization", "Bearer abc", "Bearer REDACTED"), ("Authorization", "abc def", "REDACTED"),
            ("Proxy-Authorization", "Basic dTpw", "Basic REDACTED"), ("X-Api-Key", "abc", "REDACTED"),
            ("Cookie", "a=1; b=2", "a=REDACTED; b=REDACTED"), ("Cookie", "abc", "REDACTED"),
            ("Set-Cookie", "a=1; Path=/; HttpOnly", "a=REDACTED; Path=/; HttpOnly"),
            ("Set-Cookie", "abc; Path=/", "REDACTED; Path=/"),
            ("Location", "/a?token=abc#x", "/a?token=REDACTED#x"),
            ("Referer", "https://u:p@h/?sid=1", "https://REDACTED@h/?sid=REDACTED"),
            ("Link", "<https://h/?page=2&token=abc>; rel=\"next\"", "<https://h/?page=2&token=REDACTED>; rel=\"next\""),
            ("X-Note", "has declared-value", "has REDACTED"), ("ETag", "\"abc\"", "\"abc\""), ("X-Auth-Token", "", ""),
            ("Access-Control-Allow-Credentials", "true", "true"),
            ("WWW-Authenticate", "Digest nonce=\"abc\"", "Digest nonce=\"abc\""),
        ]
    )
    func fields(name: String, value: String, expected: String) throws {
        let name = try #require(HTTPField.Name(name))
        #expect(redaction.value(of: name, value) == expected)
        #expect(redaction.value(of: name, expected) == expected)
    }

    @Test(
        "values of secret names are hidden in text that is JSON or holds it, and the rest stays as it was written",
        arguments: [
            ("{\"token\": \"abc\", \"x\": 1.50}", "{\"token\": \"REDACTED\", \"x\": 1.50}"),
            ("{\"pin\":1234,\"a\":null}", "{\"pin\":0,\"a\":null}"),
            ("{\"pin\": true, \"token\": null}", "{\"pin\": true, \"token\": null}"),
            (
                "{\"session\": {\"id\": \"abc\", \"ttl\": 9, \"l\": [\"x\", -1.5e3]}, \"y\": \"z\"}",
                "{\"session\": {\"id\": \"REDACTED\", \"ttl\": 0, \"l\": [\"REDACTED\", 0]}, \"y\": \"z\"}"
            ),
            ("{\"a\": \"{\\\"token\\\": \\\"abc\\\"}\"}", "{\"a\": \"{\\\"token\\\": \\\"REDACTED\\\"}\"}"),
            (
                "{\"a\":\"{\\\"b\\\":\\\"{\\\\\\\"pin\\\\\\\":\\\\\\\"abc\\\\\\\"}\\\"}\"}",
                "{\"a\":\"{\\\"b\\\":\\\"{\\\\\\\"pin\\\\\\\":\\\\\\\"REDACTED\\\\\\\"}\\\"}\"}"
            ),
            ("{\"token\": \"a\\\"b\\\\\", \"x\": \"y\"}", "{\"token\": \"REDACTED\", \"x\": \"y\"}"),
            ("{\"\\u0074oken\": \"abc\"}", "{\"\\u0074oken\": \"REDACTED\"}"),
            ("{\"token\": \"abc", "{\"token\": \"REDACTED"),
            ("{\"token\": {\"a\": \"b", "{\"token\": {\"a\": \"REDACTED"),
            ("data: {\"token\":\"abc\"}\n\ndata: x\n", "data: {\"token\":\"REDACTED\"}\n\ndata: x\n"),
            ("{\"a\":1}\n{\"pin\":\"2\"}\n", "{\"a\":1}\n{\"pin\":\"REDACTED\"}\n"),
            ("5\" wide {\"token\":\"abc\"}", "5\" wide {\"token\":\"REDACTED\"}"),
            (
                "{\"next\":\"https:\\/\\/u:p@h\\/?a=1\\u0026token=abc\"}",
                "{\"next\":\"https:\\/\\/REDACTED@h\\/?a=1\\u0026token=REDACTED\"}"
            ),
            ("{\"token\": [], \"x\": [1]}", "{\"token\": [], \"x\": [1]}"),
            ("{\"id\": 12345678, \"n\": 123456789}", "{\"id\": 0, \"n\": REDACTED9}"),
            ("{\"text\": \"the token: abc\"}", "{\"text\": \"the token: abc\"}"),
        ]
    )
    func json(text: String, expected: String) {
        #expect(
            String(decoding: redaction.body(Data(text.utf8), contentType: "application/json"), as: UTF8.self)
                == expected
        )
        let again = redaction.body(Data(expected.utf8), contentType: "application/json")
        #expect(String(decoding: again, as: UTF8.self) == expected)
    }

    @Test("forms and multipart bodies are redacted by the names of their fields")
    func forms() {
        let form = Data("a=1&password=abc+d&b[token]=x&c=%7B%22pin%22:1%7D".utf8)
        let shown = redaction.body(form, contentType: "application/x-www-form-urlencoded; charset=utf-8")
        #expect(
            String(decoding: shown, as: UTF8.self) == "a=1&password=REDACTED&b[token]=REDACTED&c=%7B%22pin%22%3A0%7D"
        )
        let parts = ["token", "note"].map { name in
            "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\nvalue\r\n"
        }
        let multipart = Data((parts.joined() + "--b--\r\n").utf8)
        let hidden = redaction.body(multipart, contentType: "multipart/form-data; boundary=b")
        let expected = parts[0].replacingOccurrences(of: "value", with: "REDACTED") + parts[1] + "--b--\r\n"
        #expect(String(decoding: hidden, as: UTF8.self) == expected)
    }

    @Test(
        "bytes that hold no secret stay the same bytes, in any type",
        arguments: [
            "application/json", "image/png", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded",
            "text/plain; charset=utf-16",
        ]
    )
    func untouched(type: String) {
        var random = PipelineRandom.seeded(7)
        for count in [0, 1, 100, 5_000] {
            let body = Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) })
            #expect(redaction.body(body, contentType: type) == body)
        }
    }

    @Test("a declared value is hidden in bytes that are no text")
    func binary() {
        let body = Data([0xff, 0x00]) + Data("declared-value".utf8) + Data([0xfe])
        #expect(
            redaction.body(body, contentType: "image/png") == Data([0xff, 0x00]) + Data("REDACTED".utf8) + Data([0xfe])
        )
    }

    @Test("text in UTF-16 is redacted in it")
    func utf16() throws {
        let body = try #require("{\"token\": \"abc\"}".data(using: .utf16LittleEndian))
        let shown = redaction.body(body, contentType: "text/plain; charset=utf-16le")
        #expect(String(data: shown, encoding: .utf16LittleEndian) == "{\"token\": \"REDACTED\"}")
    }

    @Test("a long body of quotation marks and backslashes takes a time that grows with its length")
    func linear() {
        for text in ["\"", "\\", "\":", "{\"token\":", "\\\"", "[", "?a=", "://"] {
            for start in ["", "{\"token\":[", "{\"token\":["] {
                let body = Data((start + String(repeating: text, count: 400_000 / text.utf8.count)).utf8)
                _ = redaction.body(body, contentType: "application/json")
            }
        }
    }

    @Test("parts within parts are looked at to a depth, and hidden as a whole beyond it", arguments: [3, 20_000])
    func nestedMultipart(depth: Int) {
        var body = ""
        for level in 1...depth {
            body += "--b\(level)\r\nContent-Type: multipart/x; boundary=b\(level + 1)\r\n\r\n"
        }
        body += "--b\(depth + 1)\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\ncanary"
        let shown = redaction.body(Data(body.utf8), contentType: "multipart/x; boundary=b1")
        #expect(!String(decoding: shown, as: UTF8.self).contains("canary"))
        #expect(String(decoding: shown, as: UTF8.self).contains("boundary=b2"))
    }

    @Test("a user name and a password in a URL are hidden whatever their length", arguments: [1, 1_000, 100_000])
    func longCredentials(count: Int) {
        let shown = redaction.url("https://x:" + String(repeating: "canary", count: count) + "@h.example/a")
        #expect(shown == "https://REDACTED@h.example/a")
    }

    /// What a recording learns from a cookie: values that are replaced, and values that are reported.
    private func learned(_ cookie: String, name: String = "view") -> (Set<String>, Set<String>) {
        let secrets = redaction.secrets(
            of: PipelineRequest(
                head: .init(method: .get, scheme: "https", authority: "my-host-1234567890.h", path: "/")
            ),
            response: [.setCookie: "\(name)=\(cookie)", .eTag: "x"]
        )
        return (secrets.replaced, secrets.reported)
    }

    @Test(
        "F13 hosts, paths, URLs, dates, plain words and short numbers are no learned secrets",
        arguments: [
            "api.example.com", "my-host-1234567890.h", "my-host-1234567890", "10.20.30.40:8080", "localhost:8080",
            "/account/after-login/index.html", "https://api.example/a?b=1", "https%3A%2F%2Fapi.example%2Fa",
            "Wed, 21 Oct 2026 07:28:00 GMT", "2026-11-21T02:12:26.119Z", "2026-11-21+02%3A12", "20261121T021226Z",
            "internationalization", "Preferences", "ENGLISHLANGUAGE", "1795227146119", "123456789012345",
        ]
    )
    func plain(value: String) {
        #expect(learned(value) == ([], []))
    }

    @Test(
        "F13 other values are replaced from 16 bytes on, and reported from 8 on",
        arguments: [
            ("0123456789abcdef", true), ("correct-horse-battery", true), ("eyJhbGci.eyJzdWIi.Sflkx-w", true),
            ("4711471147114711", true), ("sk_live_abcdefgh", true), ("/AbC1d2E3f4+x9==", true), ("a1b2c3d4e5", false),
            ("abcDEFghi", false), ("0123456789abcde", false),
        ]
    )
    func learnedValues(value: String, isReplaced: Bool) {
        #expect(learned(value) == (isReplaced ? [value] : [], isReplaced ? [] : [value]))
    }

    @Test("Each cookie of a line that joins several is redacted, and learned")
    func joinedCookies() {
        let line = "a=0123456789abcdef; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT, b=fedcba9876543210; Path=/"
        #expect(
            redaction.value(of: .setCookie, line)
                == "a=REDACTED; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT, b=REDACTED; Path=/"
        )
        #expect(learned("0123456789abcdef, b=fedcba9876543210").0 == ["0123456789abcdef", "fedcba9876543210"])
    }

    @Test("words of which a HAR file is made are no learned secrets", arguments: ["response", "postData", "Pipeline"])
    func vocabulary(word: String) {
        #expect(learned(word) == ([], []))
    }

    @Test("an entry of another writer is redacted with all that it holds, and keeps the rest")
    func foreignEntry() throws {
        let text = """
            {"_initiator": {"url": "https://h/?token=canary"}, "_resourceType": "xhr", "connection": "443", "_sessionId": "canary",
             "request": {"method": "POST", "url": "https://u:canary@h/a?token=canary", "httpVersion": "h2",
              "headers": [{"name": ":authority", "value": "h"}, {"name": "Authorization", "value": "Bearer canary"},
               ["Cookie", "a=canary"], {"name": "X-Api-Key", "value": ["canary", "canary"]}],
              "cookies": [{"name": "a", "value": "canary", "path": "/"}],
              "queryString": [{"name": "token", "value": "canary"}, {"name": "x", "value": "1"}],
              "postData": {"mimeType": "application/x-www-form-urlencoded", "text": "password=canary&x=1",
               "params": [{"name": "password", "value": "canary"}, {"name": "x", "value": "1"}]}},
             "response": {"status": 200, "headers": [{"name": "Set-Cookie", "value": "a=canary; Path=/\\nb=canary"}],
              "cookies": [{"name": "a", "value": "canary"}], "redirectURL": "/b?sid=canary", "_error": "at https://h/?token=canary",
              "content": {"size": 99, "mimeType": "application/json", "encoding": "base64",
               "text": "\(Data("{\"token\":\"canary\",\"x\":1}".utf8).base64EncodedString())", "_own": 1}},
             "_webSocketMessages": [{"type": "send", "time": 1.5, "data": "{\\"pin\\":\\"canary\\"}"}]}
            """
        let entry = redaction.entry(HAREntry(json: try JSONParser.parse(text.utf8)))
        let shown = String(decoding: entry.json.data(), as: UTF8.self)
        #expect(!shown.contains("canary"))
        let exchange = try entry.exchange(sideFiles: nil)
        #expect(exchange.request.url == "https://REDACTED@h/a?token=REDACTED")
        #expect(exchange.request.body == Data("password=REDACTED&x=1".utf8))
        #expect(exchange.response?.body == Data("{\"token\":\"REDACTED\",\"x\":1}".utf8))
        #expect(exchange.response?.headers[values: .setCookie] == ["a=REDACTED; Path=/", "b=REDACTED"])
        for kept in [
            "\"_resourceType\":\"xhr\"", "\"connection\":\"443\"", "{\"name\":\"x\",\"value\":\"1\"}", "\"_own\":1",
            "\"path\":\"/\"",
            "\"time\":1.5", "\":authority\"",
        ] {
            #expect(shown.contains(kept), "\(kept) is gone")
        }
        #expect(redaction.entry(entry) == entry)
    }

    @Test("an entry without secrets stays as it is")
    func plainEntry() throws {
        let text = """
            {"request": {"method": "GET", "url": "https://h/a?b=%41", "headers": null, "cookies": []}, "comment": 1.0,
             "response": {"status": 200, "content": {"text": "[\\"eA==\\"]", "encoding": "base64", "size": 3, "compression": -1}}}
            """
        let entry = HAREntry(json: try JSONParser.parse(text.utf8))
        #expect(redaction.entry(entry) == entry)
    }

    @Test("with the redactor that reveals secrets only declared values are hidden")
    func revealing() {
        let revealing = RecordingRedaction(Redactor.revealingSecrets.adding(secretValues: ["declared-value"]))
        #expect(revealing.url("https://h/?token=abc&x=declared-value") == "https://h/?token=abc&x=REDACTED")
        #expect(revealing.value(of: .authorization, "Bearer abc") == "Bearer abc")
    }
}
