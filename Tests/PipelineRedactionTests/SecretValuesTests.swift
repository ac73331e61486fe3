import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("Redactor, declared values", .watched)
struct SecretValuesTests {
    private let secret = #"s3cr/t+P ss"é\?"#
    private var redactor: Redactor { Redactor(secretValues: [secret]) }

    // MARK: Forms

    @Test(
        "F06 A declared value is hidden in each of its forms",
        arguments: [
            (#"s3cr/t+P ss"é\?"#, "as it is"), (#"s3cr%2Ft%2BP%20ss%22%C3%A9%5C%3F"#, "percent-encoded"),
            (#"s3cr%2ft%2bP%20ss%22%c3%a9%5c%3f"#, "percent-encoded in lower case"),
            (#"s3cr%2Ft%2BP+ss%22%C3%A9%5C%3F"#, "as a form writes it"), (#"s3cr\/t+P ss\"é\\?"#, "in JSON"),
            (#"s3cr\/t+P ss\"\u00e9\\?"#, "in JSON, as ASCII"), (#"\u00733cr/t\u002BP ss"\u00E9\\?"#, "in odd JSON"),
            ("czNjci90K1Agc3Miw6lcPw==", "in base64"), ("czNjci90K1Agc3Miw6lcPw", "in base64 without padding"),
            (#"czNjci90K1Agc3Miw6lcPw=="#, "in base64"), (#"czNjci90K1Agc3Miw6lcPw%3D%3D"#, "in base64 in a query"),
            (#"s3cr\\\/t+P ss\\\"é\\\\?"#, "in JSON in JSON"),
            (#"s3cr%252Ft%252BP%2520ss%2522%25C3%25A9%255C%253F"#, "in a URL in a query"),
        ]
    )
    func forms(text: String, form: String) {
        let shown = redactor.text("<\(text)>")
        #expect(shown.hasPrefix("<…"))
        #expect(shown.replacingOccurrences(of: "=", with: "").replacingOccurrences(of: "%3D", with: "") == "<…>")
        #expect(redactor.containsSecret(in: Data(text.utf8)))
    }

    @Test(
        "F06 In a longer base64 text, a declared value is hidden at any offset, without a bit of it left",
        arguments: 0..<12
    )
    func longerBase64(offset: Int) {
        for secret in ["pass", "passw", "passwo", "Ürïgk/???>>>"] {
            for tail in 0..<4 {
                let data = Data(
                    (String(repeating: "u", count: offset) + secret + String(repeating: "v", count: tail)).utf8
                )
                let standard = data.base64EncodedString()
                let urlSafe = standard.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
                for text in [standard, urlSafe] {
                    let shown = Redactor(secretValues: [secret]).text(text)
                    let head = standard.prefix(offset * 8 / 6)
                    #expect(shown.hasPrefix(head + "…"))
                    #expect(shown.count <= head.count + 1 + (tail * 8 + 5) / 6 + 2)
                    // Whatever replaces the hidden digits, the bytes of the secret are gone.
                    #expect(!shown.contains(standard.dropFirst((offset * 8 + 5) / 6).prefix(4)))
                }
            }
        }
    }

    @Test(
        "F06 In ten thousand cases, every form is hidden, the text around it is kept, and no secret is left"
    )
    func property() {
        var random = PipelineRandom.seeded(406)
        for index in 0..<10_000 {
            let secret = random.makeSecret()
            let form = SecretForm.allCases[index % SecretForm.allCases.count]
            let text = form.text(of: secret, &random)
            let before = random.makeString(upTo: 12) + "<"
            let after = ">" + random.makeString(upTo: 12)
            if (before + after).contains(secret) { continue }
            let redactor = Redactor(secretValues: [secret, "another-secret"])
            let whole = before + text + after
            let shown = redactor.text(whole)
            let isHidden =
                !shown.contains(text) && !shown.contains(secret) && redactor.containsSecret(in: whole.utf8)
                && !redactor.containsSecret(in: shown.utf8) && redactor.text(shown) == shown
            let isKept =
                Data(shown.utf8).starts(with: Data(before.utf8))
                && shown.utf8.reversed().starts(with: after.utf8.reversed())
            guard isHidden, isKept, shown.contains("…") else {
                Issue.record(
                    "case \(index), \(form): \(secret.debugDescription) in \(whole.debugDescription) is \(shown.debugDescription)"
                )
                return
            }
        }
    }

    @Test("A value that appears only because another was hidden is hidden, too")
    func nextToAnother() {
        let redactor = Redactor(secretValues: ["WXYZ", "…abc", "……"])
        for text in ["WXYZabc", "WXYZ…", "WXYZWXYZabc…"] {
            let shown = redactor.text(text)
            #expect(shown == "…")
            #expect(redactor.text(shown) == shown)
        }
    }

    // MARK: Places

    @Test("A declared value is hidden in a URL's path and in the names and shown values of its query")
    func urls() {
        let redactor = Redactor(shownQueryNames: ["page"], secretValues: ["canary"])
        #expect(
            redactor.url("https://a.test/b/canary/c?page=xcanary&canary=1&page=2")
                == "https://a.test/b/…/c?page=x…&…=…&page=2"
        )
        #expect(redactor.url("https://a.test/c%61nary/c%61n%61ry") == "https://a.test/…/…")
    }

    @Test("A declared value is hidden in header fields that are shown, and in their names")
    func fields() throws {
        let redactor = Redactor(secretValues: ["canary"])
        let name = try #require(HTTPField.Name("X-canary"))
        let fields = redactor.fields([.server: "a canary", .location: "/canary/", .eTag: "\"Y2FuYXJ5\"", name: "1"])
        #expect(fields.map(\.name) == ["Server", "Location", "ETag", "X-…"])
        #expect(fields.map(\.value) == ["a …", "/…/", "\"…\"", "…"])
    }

    @Test(
        "A declared value is hidden in bodies, which keep their format",
        arguments: [
            (
                "application/json", #"{"a":"x canary","b":[12345678,1],"canary":{"c":0.12345678e1}}"#,
                #"{"a":"x …","b":["…",1],"…":{"c":"…"}}"#
            ),
            (
                "application/json", #"{"a":"c\u0061nary","b":"line\ncanary","c":"\u00e9"}"#,
                #"{"a":"…","b":"line\n…","c":"\u00e9"}"#
            ),
            (
                "application/json", #"{"a":"{\"x\":\"c\\u0061nary\",\"y\":12345678}"}"#,
                #"{"a":"{\"x\":\"…\",\"y\":\"…\"}"}"#
            ),
            (
                "application/json", #"{"a":"https://a.test/canary?page=1","pin":"canary"}"#,
                #"{"a":"https:\/\/a.test\/…?page=…","pin":"…"}"#
            ),
            ("application/json", #"["Y2FuYXJ5","eGNhbmFyeXg="]"#, #"["…","e…g="]"#),
            ("application/x-www-form-urlencoded", "a=x+canary&canary=1&b=c%61nary&c=3", "a=x+…&…=1&b=…&c=3"),
            ("text/plain", "a canary, a Canary", "a …, a Canary"),
            ("text/html; charset=utf-8", "<a href='/canary'>", "<a href='/…'>"),
            ("text/canary", "", "<0 bytes of text/…>"),
        ]
    )
    func bodies(type: String, body: String, shown: String) {
        let redactor = Redactor(secretValues: ["canary", "12345678"])
        let text = redactor.bodyText(Data(body.utf8), contentType: type, limit: 1_000)
        #expect(text == shown)
        #expect(redactor.bodyText(Data(text.utf8), contentType: type, limit: 1_000) == (body.isEmpty ? text : shown))
    }

    @Test("Redacted JSON is valid JSON")
    func validJSON() throws {
        let redactor = Redactor(secretValues: ["u0041bcd", "123456", #"xy\\"#])
        for body in [
            #"{"a":"\u0041bcd"}"#, #"{"a":-123456.5}"#, #"{"a":"xy\\\\","b":"xy\\\""}"#, #"["123456\n123456"]"#,
        ] {
            let shown = redactor.bodyText(Data(body.utf8), contentType: "application/json", limit: 100)
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(shown.utf8)) }
            #expect(!redactor.containsSecret(in: shown.utf8))
        }
    }

    @Test("A declared value is hidden in a cURL command")
    func curl() throws {
        let redactor = Redactor(secretValues: ["it's-canary"])
        let request = try PipelineRequest(
            .init("X-it's-canary") ?? .post,
            url: "https://a.test/it's-canary/",
            headers: [.userAgent: "it's-canary"],
            body: .bytes(Data("it's-canary".utf8))
        )
        let command = request.curlCommand(redactor: redactor)
        #expect(!command.contains("canary"))
        #expect(command == "curl -X 'X-…' -H 'User-Agent: …' -H 'Content-Type:' --data-raw '…' 'https://a.test/…/'")
    }

    // MARK: Limits

    @Test(
        "F06 A declared value that is cut by a limit is hidden, whatever the limit",
        arguments: ["utf-8", "utf-16le", "iso-8859-1"]
    )
    func cut(charset: String) throws {
        let encoding: String.Encoding = ["utf-8": .utf8, "utf-16le": .utf16LittleEndian][charset] ?? .isoLatin1
        for form in ["canary-9", "c%61nary-9", #"\u0063anary-9"#, "Y2FuYXJ5LTk"] {
            let body = try #require((String(repeating: "ö", count: 20) + form + " end").data(using: encoding))
            for limit in 1...body.count {
                for parsed in [0, limit / 2, 1_000] {
                    for redactor in [Redactor(parsedBodyByteCount: parsed), .revealingSecrets] {
                        let redactor = redactor.adding(secretValues: ["canary-9"])
                        let shown = redactor.bodyText(body, contentType: "text/plain; charset=\(charset)", limit: limit)
                        let visible = shown.hasPrefix("<") ? "" : shown.components(separatedBy: " <cut")[0]
                        #expect(visible.allSatisfy { "ö… end".contains($0) }, "\(shown)")
                    }
                }
            }
        }
    }

    @Test("F06 If hiding shortens a text, no cut value moves within the limit")
    func shortened() {
        let body = Data(String(repeating: "canary-9", count: 1_000).utf8)
        for parsed in 0..<20 {
            let redactor = Redactor(parsedBodyByteCount: 100 + parsed, secretValues: ["canary-9", "canary-91"])
            let shown = redactor.bodyText(body, contentType: "text/plain", limit: 90 + parsed)
            #expect(shown == "… <cut, 8000 bytes in all>")
        }
    }

    // MARK: Declaring

    @Test("The revealing redactor hides declared values in fields, URL queries and bodies, and nothing else")
    func revealing() {
        let redactor = Redactor.revealingSecrets.adding(secretValues: ["canary"])
        #expect(redactor.fields([.authorization: "Bearer canary x"]).map(\.value) == ["Bearer … x"])
        #expect(redactor.url("https://a.test/?token=x&b=canary") == "https://a.test/?token=x&b=…")
        #expect(
            redactor.bodyText(Data(#"{"pin":1,"a":"canary"}"#.utf8), contentType: "application/json", limit: 99)
                == #"{"pin":1,"a":"…"}"#
        )
    }

    @Test("Neither the description nor a dump of a redactor shows a value")
    func description() {
        let redactor = Redactor(shownQueryNames: ["page"], secretValues: ["canary-1", "canary-2"])
        var text = "\(redactor) \(String(reflecting: redactor)) \([redactor])"
        dump(redactor, to: &text)
        dump(["a": redactor], to: &text)
        #expect(!text.contains("canary"))
        #expect(
            redactor.description.hasSuffix(
                "1 query names shown, \(Redactor.standardSecretNames.count) secret names, 2 secret values"
            )
        )
        #expect(Redactor.revealingSecrets.description == "revealing secrets, 0 secret values")
    }
}
