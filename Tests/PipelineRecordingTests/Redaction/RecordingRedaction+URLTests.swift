import Foundation
import Pipeline
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

@Suite("Redaction of recorded URLs", .watched)
struct RecordingRedactionURLTests {
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
            ("https://h/?to=access_token=abc", "https://h/?to=access_token=REDACTED"),
            ("https://h/?to=a=access_token=abc&x=1", "https://h/?to=a=access_token=REDACTED&x=1"),
            ("https://h/?=access_token=abc", "https://h/?=access_token=REDACTED"),
            ("https://h/?to=access_token%3Dabc", "https://h/?to=access_token%3DREDACTED"),
            ("https://h/?access_token%3Dabc&x=1", "https://h/?access_token%3DREDACTED&x=1"),
            ("https://h/?access_token==abc", "https://h/?access_token=REDACTED"),
            ("https://h/?token=", "https://h/?token="), ("https://h/?token", "https://h/?token"),
            ("https://h/a%2Fb?x=%41+b&&c", "https://h/a%2Fb?x=%41+b&&c"),
        ]
    )
    func urls(url: String, expected: String) {
        #expect(redaction.url(url) == expected)
        #expect(redaction.url(expected) == expected)
    }

    @Test("a user name and a password in a URL are hidden whatever their length", arguments: [1, 1_000, 100_000])
    func longCredentials(count: Int) {
        let shown = redaction.url("https://x:" + String(repeating: "canary", count: count) + "@h.example/a")
        #expect(shown == "https://REDACTED@h.example/a")
    }
}
