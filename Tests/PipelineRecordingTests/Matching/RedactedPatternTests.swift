import Foundation
import Pipeline
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

@Suite("F13 Redacted values match", .watched)
struct RedactedPatternTests {
    private let bench: RecordingBench

    init() throws { bench = try RecordingBench() }

    @Test(
        "F13 a redacted value in an entry matches any value in its place, and nothing else",
        arguments: [
            ("/s/REDACTED/a", "/s/x/a", true), ("/s/REDACTED/a", "/s/x/y/a", false), ("/s/REDACTED/a", "/s//a", false),
            ("/s/pre-REDACTED.json", "/s/pre-1.json", true), ("/s/pre-REDACTED.json", "/s/pre-1.xml", false),
            ("/s?a=REDACTED&b=1", "/s?b=1&a=x", true), ("/s?a=REDACTED&b=1", "/s?b=2&a=x", false),
            ("/s?a=REDACTED", "/s?b=x", false), ("/s?a=REDACTED&a=1", "/s?a=1&a=2", true),
            ("/s?a=REDACTED", "/s", false), ("/s/x/a", "/s/REDACTED/a", true),
        ]
    )
    func patterns(recorded: String, live: String, isMatch: Bool) async throws {
        try bench.write(entries: [("GET", "https://api.example\(recorded)", "ok")])
        let provider = bench.provider(try ReplayTransport(bench.file)) {
            $0 = try PipelineRequest(.get, url: "https://api.example\(live)")
        }
        #expect(try await provider.failureCode(bench.target()) == (isMatch ? nil : .noMatch))
    }

    @Test("F13 an exact match takes precedence over a match through a redacted value")
    func exactFirst() async throws {
        try bench.write(entries: [
            ("GET", "https://api.example/REDACTED", "any"), ("GET", "https://api.example/list", "list"),
        ])
        let provider = bench.provider(try ReplayTransport(bench.file))
        #expect(try await provider.request(bench.target("/list")).data == Data("list".utf8))
        #expect(try await provider.request(bench.target("/x")).data == Data("any".utf8))
        #expect(try await provider.failureCode(bench.target("/y")) == .usedUp)
    }
}
