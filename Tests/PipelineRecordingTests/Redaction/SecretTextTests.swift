import Foundation
import Pipeline
import PipelineRecording
import TestSupport
import Testing

@Suite("F14 Secrets in recorded XML and text", .watched)
struct SecretTextTests {
    private let redaction = RecordingRedaction(.standard)

    @Test(
        "Pairs, arguments and private keys are hidden in recorded text of any kind, and a second time changes nothing",
        arguments: [
            (#"{"name":"password","value":"canary","a":1}"#, #"{"name":"password","value":"REDACTED","a":1}"#),
            (
                #"[{"value":"canary","key":"api_key"}, {"key":"b","value":"c"}]"#,
                #"[{"value":"REDACTED","key":"api_key"}, {"key":"b","value":"c"}]"#
            ),
            (#"{"name":"pin","type":"n","value":12}"#, #"{"name":"pin","type":"n","value":0}"#),
            (#"{"name":"pin","x":1},{"value":"a"}"#, #"{"name":"pin","x":1},{"value":"a"}"#),
            (
                #"{"a":"{\"name\":\"otp\",\"value\":\"canary\"}"}"#,
                #"{"a":"{\"name\":\"otp\",\"value\":\"REDACTED\"}"}"#
            ),
            (
                #"{"query":"mutation {\n login(a: \"b\",\n password : \"canary\") }"}"#,
                #"{"query":"mutation {\n login(a: \"b\",\n password : \"REDACTED\") }"}"#
            ),
            (
                #"mutation { login(password: """canary "x" canary""", pin: 12) }"#,
                #"mutation { login(password: """REDACTED""", pin: 0) }"#
            ),
            ("query { user(name: \"b\", id: 3) }", "query { user(name: \"b\", id: 3) }"),
            (
                #"{"a":"-----BEGIN RSA PRIVATE KEY-----\ncanary\n-----END RSA PRIVATE KEY-----"}"#,
                #"{"a":"-----BEGIN RSA PRIVATE KEY-----REDACTED-----END RSA PRIVATE KEY-----"}"#
            ),
            ("-----BEGIN PRIVATE KEY-----\ncanary", "-----BEGIN PRIVATE KEY-----\nREDACTED"),
            (
                #"<a><add key="ApiKey" value="canary"/><add key="b" value="c"/></a>"#,
                #"<a><add key="ApiKey" value="REDACTED"/><add key="b" value="c"/></a>"#
            ),
            (
                "<d><key>password</key><string>canary</string><key>b</key><string>c</string></d>",
                "<d><key>password</key><string>REDACTED</string><key>b</key><string>c</string></d>"
            ),
            (
                "<m><name>pin</name><value><int>12</int></value></m>",
                "<m><name>pin</name><value><int>REDACTED</int></value></m>"
            ),
        ]
    )
    func pairs(body: String, shown: String) {
        let result = redaction.body(Data(body.utf8), contentType: nil)
        #expect(String(decoding: result, as: UTF8.self) == shown)
        #expect(redaction.body(result, contentType: nil) == result)
    }

    @Test("F14 redacting a long text takes linear time")
    func linear() {
        for text in [
            "<password>", "<password ", "<!--", "<![CDATA[", "<?", "<!DOCTYPE[", "<a b=", "<a password='", "<a '",
            "password=",
            "password: ", "\npassword=&", "password: \"", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "-", "}",
            #"{"name":"password","value":"a"}"#, #"{"value":"a","name":"password"}"#, #"{"value":{"#, #""value":"\\"#,
            "<key>password</key><string>a</string>", "password:\"\"\"", " password=\"", "a ", "<a \\\\", "<sig>", "]",
            "<!--<![CDATA[<?",
        ] {
            for start in ["", "<", "<password>", "x"] {
                _ = redaction.body(
                    Data((start + String(repeating: text, count: 100_000 / text.utf8.count)).utf8),
                    contentType: nil
                )
            }
        }
    }
}
