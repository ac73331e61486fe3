import Foundation
import Pipeline
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

@Suite("Redaction of recorded bodies", .watched)
struct RecordingRedactionBodyTests {
    private let redaction = RecordingRedaction(Redactor(secretValues: ["declared-value", "12345678"]))

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
        "a body without a secret keeps its bytes, whatever its media type",
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

    @Test("a declared value is hidden in binary data")
    func binary() {
        let body = Data([0xff, 0x00]) + Data("declared-value".utf8) + Data([0xfe])
        #expect(
            redaction.body(body, contentType: "image/png") == Data([0xff, 0x00]) + Data("REDACTED".utf8) + Data([0xfe])
        )
    }

    @Test("text in UTF-16 is redacted and keeps its encoding")
    func utf16() throws {
        let body = try #require("{\"token\": \"abc\"}".data(using: .utf16LittleEndian))
        let shown = redaction.body(body, contentType: "text/plain; charset=utf-16le")
        #expect(String(data: shown, encoding: .utf16LittleEndian) == "{\"token\": \"REDACTED\"}")
    }

    private static let json = #"{"password":"canary-é","v":"declared-välue","name":"José"}"#
    private static let hiddenJSON = #"{"password":"REDACTED","v":"REDACTED","name":"José"}"#

    @Test(
        "text is redacted in its charset, also if it ends inside a character or the type names no or another charset",
        arguments: [String.Encoding.isoLatin1, .windowsCP1252, .utf16LittleEndian, .utf16BigEndian, .utf16, .utf8]
    )
    func charsets(encoding: String.Encoding) throws {
        let redaction = RecordingRedaction(Redactor(secretValues: ["declared-välue"]))
        let body = try #require(Self.json.data(using: encoding))
        let charsets: [String.Encoding: String] = [
            .isoLatin1: "iso-8859-1", .windowsCP1252: "windows-1252", .utf16LittleEndian: "utf-16le",
            .utf16BigEndian: "utf-16be", .utf16: "utf-16", .utf8: "utf-8",
        ]
        let charset = try #require(charsets[encoding])
        for type in ["application/json; charset=\(charset)", "text/plain", "application/json; charset=us-ascii"] {
            let shown = redaction.body(body, contentType: type)
            #expect(String(data: shown, encoding: encoding) == Self.hiddenJSON, "\(type)")
            #expect(redaction.body(shown, contentType: type) == shown, "\(type)")
        }
        // Half of the last character remains, except in UTF-16.
        let cut = redaction.body(body.dropLast(3), contentType: "application/json; charset=\(charset)")
        let text = String(decoding: cut, as: UTF8.self).replacing("\0", with: "")
        #expect(text.contains(#""password":"REDACTED","v":"REDACTED""#))
    }

    @Test(
        "text with an invalid byte is redacted, and the byte remains",
        arguments: [
            ("application/json", #"{"access_token":"canary","n":"Jos√"}"#),
            ("text/xml; charset=ISO-8859-1", "<a><password>canary</password><n>Jos√</n></a>"),
            ("application/x-www-form-urlencoded", "n=Jos√&code=canary&password=canary"),
            ("text/html; charset=shift_jis", #"<input name="password" value="canary">√"#),
            ("", #"{"access_token":"canary","n":"Jos√"}"#), ("application/octet-stream", "token=canary\n√"),
        ]
    )
    func invalidByte(type: String, text: String) {
        let body = Data(text.unicodeScalars.map { $0 == "√" ? 0xe9 : UInt8($0.value) })
        let shown = redaction.body(body, contentType: type)
        #expect(shown.contains(0xe9))
        #expect(shown.range(of: Data("canary".utf8)) == nil)
        #expect(redaction.body(shown, contentType: type) == shown)
    }

    @Test("text in an unknown charset is hidden as a whole unless it is UTF-8", arguments: ["utf-32le", "ibm037"])
    func unknownCharset(charset: String) throws {
        let type = "application/json; charset=\(charset)"
        let body = try #require(Self.json.data(using: .utf32LittleEndian))
        #expect(redaction.body(body, contentType: type) == Data("REDACTED".utf8))
        let utf8 = Data(#"{"name":"José"}"#.utf8)
        #expect(redaction.body(utf8, contentType: type) == utf8)
    }

    @Test("redacting a long body of quotation marks and backslashes takes linear time")
    func linear() {
        for text in ["\"", "\\", "\":", "{\"token\":", "\\\"", "[", "?a=", "://"] {
            for start in ["", "{\"token\":[", "{\"token\":["] {
                let body = Data((start + String(repeating: text, count: 400_000 / text.utf8.count)).utf8)
                _ = redaction.body(body, contentType: "application/json")
            }
        }
    }

    @Test("nested parts are redacted up to a maximum depth and hidden entirely beyond it", arguments: [3, 20_000])
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
}
