import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("Redactor, JSON", .watched)
struct JSONRedactionTests {
    private let redactor = Redactor.standard

    private func json(_ text: String) -> String {
        redactor.bodyText(Data(text.utf8), contentType: "application/json", limit: 1_000)
    }

    @Test(
        "The value of a secret name is hidden in JSON at any depth, and everything else stays unchanged",
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
            (#"{"name":"password","value":"canary"}"#, #"{"name":"password","value":"…"}"#),
            (#"{"value":"canary","type":"a","Name":"password"}"#, #"{"value":"…","type":"a","Name":"password"}"#),
            (#"[{"key":"api_key","value":{"a":["canary"]}},1]"#, #"[{"key":"api_key","value":"…"},1]"#),
            (
                #"{"value":{"value":"canary","name":"pin"},"key":"a"}"#,
                #"{"value":{"value":"…","name":"pin"},"key":"a"}"#
            ),
            (#"{"value":{"value":"canary","name":"pin"},"key":"otp"}"#, #"{"value":"…","key":"otp"}"#),
            (#"{"token":{"value":"canary","name":"pin"},"b":1}"#, #"{"token":"…","b":1}"#),
            (#"{"name":"pin","value":null}"#, #"{"name":"pin","value":null}"#),
            (#"{"name":"city","value":"Rome"}"#, #"{"name":"city","value":"Rome"}"#),
            (
                #"{"query":"mutation { login(name: \"b\", password: \"canary\", pin: 12) }"}"#,
                #"{"query":"mutation { login(name: \"b\", password: \"…\", pin: …) }"}"#
            ),
            (
                #"{"a":"-----BEGIN PRIVATE KEY-----\ncanary\n-----END PRIVATE KEY-----\n"}"#,
                #"{"a":"-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----\n"}"#
            ),
            (#"{"a":"at postgres:\/\/bob:canary@db ok"}"#, #"{"a":"at postgres:\/\/…@db ok"}"#),
            (#""text""#, #""text""#),
            ("{}", "{}"),
        ]
    )
    func jsonBody(body: String, shown: String) {
        #expect(json(body) == shown)
    }

    @Test(
        "JSON that is cut or malformed is shown only by its size",
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

    @Test("JSON and URLs inside JSON strings follow their own rules, too")
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

    @Test("JSON in an encoding other than UTF-8 is shown only by its size")
    func utf16() throws {
        let data = try #require(#"{"password":"canary"}"#.data(using: .utf16LittleEndian))
        #expect(
            redactor.bodyText(data, contentType: "application/json", limit: 100)
                == "<\(data.count) bytes of application/json>"
        )
    }
}
