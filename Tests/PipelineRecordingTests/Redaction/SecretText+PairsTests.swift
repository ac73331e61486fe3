import Foundation
import Pipeline
import PipelineRecording
import TestSupport
import Testing

@Suite("F14 Secrets in recorded lines and pairs", .watched)
struct SecretTextPairsTests {
    private let redaction = RecordingRedaction(.standard)

    @Test(
        "F14 lines and pairs in other text are redacted by name",
        arguments: [
            ("user: ann\npassword: X y, z\nnote: y\n", "user: ann\npassword: REDACTED\nnote: y\n"),
            ("password=X;&y\r\nb=y", "password=REDACTED\r\nb=y"), ("password=X&b=y", "password=REDACTED&b=y"),
            ("[db]\nDB_PASSWORD = \"X\"\nport = 1\n", "[db]\nDB_PASSWORD = \"REDACTED\"\nport = 1\n"),
            ("export API_KEY='X'", "export API_KEY='REDACTED'"), ("- Your password: X", "- Your password: REDACTED"),
            ("ann logs in with password=X, b=y", "ann logs in with password=REDACTED, b=y"),
            ("Server=y;Password=X;Port=1", "Server=y;Password=REDACTED;Port=1"),
            ("login user=\"y\" password=\"X x\" b", "login user=\"y\" password=\"REDACTED\" b"),
            ("the password is: y\nhttps://h/y\ntoken == y\nauth::y\npassword:\nsession: true\ncode: y", nil),
        ] as [(String, String?)]
    )
    func text(text: String, expected: String?) {
        for type in ["text/plain", "application/yaml", "text/plain; charset=utf-16"] {
            let encoding: String.Encoding = type.hasSuffix("16") ? .utf16 : .utf8
            let once = redaction.body(text.data(using: encoding) ?? Data(), contentType: type)
            #expect(String(data: once, encoding: encoding) == expected ?? text)
            #expect(redaction.body(once, contentType: type) == once)
        }
    }
}
