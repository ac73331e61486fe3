import Foundation
import Pipeline
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

@Suite("Redaction of recordings", .watched)
struct RecordingRedactionTests {
    private let redaction = RecordingRedaction(Redactor(secretValues: ["declared-value", "12345678"]))

    @Test(
        "secret fields keep the authentication scheme and the names of cookies",
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
        "values of secret names are hidden in JSON and in text that contains it; the rest is unchanged",
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

    @Test("a redactor that reveals secrets hides only declared values")
    func revealing() {
        let revealing = RecordingRedaction(Redactor.revealingSecrets.adding(secretValues: ["declared-value"]))
        #expect(revealing.url("https://h/?token=abc&x=declared-value") == "https://h/?token=abc&x=REDACTED")
        #expect(revealing.value(of: .authorization, "Bearer abc") == "Bearer abc")
    }
}
