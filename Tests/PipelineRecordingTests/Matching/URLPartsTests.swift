import Foundation
import Pipeline
import PipelineRecording
import TestSupport
import Testing

@Suite("RequestMatching: URLs", .watched)
struct URLPartsTests {
    @Test(
        "URLs are normalized before they are compared",
        arguments: [
            ("https://api.example/a", "https://API.example:443/a", true), ("http://h/a", "http://h:80/a", true),
            ("http://h/a", "https://h/a", false), ("http://h/a", "http://h:8080/a", false),
            ("http://h", "http://h/", true),
            ("http://h/%7Ea/%c3%a9", "http://h/~a/%C3%A9", true), ("http://h/a%2Fb", "http://h/a/b", false),
            ("http://h/a?x=%41&y=a+b", "http://h/a?y=a%20b&x=A", true),
            ("http://h/a?x=%2541", "http://h/a?x=%41", false),
            ("http://h/a?x=1&x=2", "http://h/a?x=2&x=1", true), ("http://h/a?x=1&x=1", "http://h/a?x=1", false),
            ("http://h/a?x=1", "http://h/a", false), ("http://h/a?", "http://h/a", true),
            ("http://h/a", "http://h/a#f", true),
            ("http://h/a?x=a%26y=2", "http://h/a?x=a&y=2", false), ("http://h/a+b", "http://h/a%20b", false),
        ]
    )
    func urls(live: String, recorded: String, isMatch: Bool) async throws {
        #expect(
            try await RequestMatchingTests.matches(
                RequestMatchingTests.request(live),
                RequestMatchingTests.request(recorded),
                [.url]
            ) == isMatch
        )
    }

    @Test(
        "the order of a query is compared on request, and names can be ignored",
        arguments: [
            (RequestMatching.Part.query(inOrder: true), "x=1&y=2", "y=2&x=1", false),
            (.query(inOrder: false), "x=1&y=2", "y=2&x=1", true),
            (.query(ignoring: ["y"]), "x=1&y=2", "x=1&y=3", true),
            (.query(ignoring: ["y"]), "x=1&y=2", "x=2&y=2", false),
            (.query(ignoring: ["a b"]), "a%20b=1", "a+b=2", true),
        ]
    )
    func queries(part: RequestMatching.Part, live: String, recorded: String, isMatch: Bool) async throws {
        #expect(
            try await RequestMatchingTests.matches(
                RequestMatchingTests.request("http://h/?" + live),
                RequestMatchingTests.request("http://h/?" + recorded),
                [part]
            ) == isMatch
        )
    }
}
