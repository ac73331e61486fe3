import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Learned secrets", .watched)
struct RecordingRedactionSecretsTests {
    private let redaction = RecordingRedaction(Redactor(secretValues: ["declared-value", "12345678"]))

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
        "F13 hosts, paths, URLs, dates, plain words and short numbers are not learned as secrets",
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
        "F13 other values are replaced from 16 bytes and reported from 8 bytes",
        arguments: [
            ("0123456789abcdef", true), ("correct-horse-battery-staple", true), ("eyJhbGci.eyJzdWIi.Sflkx-w", true),
            ("4711471147114711", true), ("sk_live_abcdefgh", true), ("/AbC1d2E3f4+x9==", true), ("a1b2c3d4e5", false),
            ("abcDEFghi", false), ("0123456789abcde", false),
        ]
    )
    func learnedValues(value: String, isReplaced: Bool) {
        #expect(learned(value) == (isReplaced ? [value] : [], isReplaced ? [] : [value]))
    }

    @Test("Each cookie in a joined Set-Cookie field is redacted and learned")
    func joinedCookies() {
        let line = "a=0123456789abcdef; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT, b=fedcba9876543210; Path=/"
        #expect(
            redaction.value(of: .setCookie, line)
                == "a=REDACTED; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT, b=REDACTED; Path=/"
        )
        #expect(learned("0123456789abcdef, b=fedcba9876543210").0 == ["0123456789abcdef", "fedcba9876543210"])
    }

    @Test("words of the HAR format are not learned as secrets", arguments: ["response", "postData", "Pipeline"])
    func vocabulary(word: String) {
        #expect(learned(word) == ([], []))
    }
}
