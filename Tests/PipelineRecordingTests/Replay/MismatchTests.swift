import Foundation
import Pipeline
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

@Suite("Errors for requests that match no entry", .tags(.concurrent), .watched)
struct MismatchTests {
    private let bench: RecordingBench

    init() throws { bench = try RecordingBench() }

    @Test("F05 a miss names the file, the mode and how to record, then the three nearest entries part by part")
    func nearest() async throws {
        try bench.write(entries: [
            ("GET", "https://api.example/users/1?page=1", "1"), ("POST", "https://api.example/users/2", "2"),
            ("GET", "http://other.example/x", "3"), ("GET", "https://api.example/users/3?page=2", "4"),
        ])
        let provider = bench.provider(try bench.closed(.replayOnly))
        let failure = try #require(try await provider.failure(bench.target("/users/2")))
        let lines = failure.reason.split(separator: "\n").map(String.init)
        try #require(lines.count == 5)
        #expect(
            lines[0]
                == "no entry of \"api.har\" matches GET \"https://api.example/users/2\" (mode replayOnly, 4 entries)"
        )
        #expect(
            lines[2]
                == "entry 1, POST \"https://api.example/users/2\": method differs (sent \"GET\", recorded \"POST\")"
        )
        #expect(lines[3].contains("path differs (sent \"/users/2\", recorded \"/users/1\")"))
        #expect(lines[3].contains("query differs (sent \"\", recorded \"page=1\")"))
        #expect(lines[4].hasPrefix("entry 3"))
        #expect(lines[1] == "to record the request, use mode .recordNew, or PIPELINE_RECORD=recordAll for all requests")
        #expect(failure.description.contains("recorded \"page=2\"); GET api.example/users/2; target"))
    }

    @Test("if any entry has the method and path of the request, a miss lists only such entries")
    func unrelated() async throws {
        try bench.write(entries: [
            ("GET", "https://api.example/a?x=1", "1"), ("GET", "https://api.example/b?x=2", "2"),
            ("POST", "https://api.example/a?x=2", "3"), ("GET", "http://other.example/a?x=3", "4"),
        ])
        let provider = bench.provider(try bench.closed(.replayOnly)) { $0.appendQuery("x=2") }
        let failure = try #require(try await provider.failure(bench.target("/a")))
        let lines = failure.reason.split(separator: "\n").dropFirst(2)
        #expect(lines.dropFirst().map { String($0.prefix(8)) } == ["entry 0,", "entry 3,"])
        let proposal = "to ignore what differs from entry 0, add .ignoring(query: [\"x\"]) to the matching"
        #expect(lines.first.map(String.init) == proposal)
    }

    @Test("A setting is proposed only if ignoring a few query items is all that is missing")
    func proposals() async throws {
        try bench.write(entries: [
            ("GET", "https://api.example/a?ts=1&x=2", "1"), ("GET", "https://api.example/b?a=1&b=1&c=1&d=1", "2"),
            ("POST", "https://api.example/c?x=1", "3"), ("GET", "https://api.example/d?a%20b=1&x=1", "4"),
        ])
        func proposal(_ path: String, _ query: String) async throws -> String? {
            let provider = bench.provider(try bench.closed(.replayOnly)) { $0.appendQuery(query) }
            let failure = try #require(try await provider.failure(bench.target(path)))
            return failure.reason.split(separator: "\n").first { $0.hasPrefix("to ignore") }
                .map { String($0.drop { $0 != "[" }.prefix { $0 != ")" }) }
        }
        #expect(try await proposal("/a", "ts=9&x=2") == "[\"ts\"]")
        #expect(try await proposal("/a", "x=2") == "[\"ts\"]")
        #expect(try await proposal("/a", "ts=9&x=3&y=1") == "[\"ts\", \"x\", \"y\"]")
        #expect(try await proposal("/b", "a=2&b=2&c=2&d=2") == nil)
        #expect(try await proposal("/c", "x=2") == nil)
        #expect(try await proposal("/d", "x=1") == "[\"a b\"]")
    }

    @Test("ReplayTransport errors name no mode, and suggest RecordingTransport before their last line")
    func replayOnly() async throws {
        try bench.write(entries: [("GET", "https://api.example/a", "1"), ("GET", "https://api.example/a", "2")])
        let provider = bench.provider(try ReplayTransport(bench.file))
        let miss = try #require(try await provider.failure(bench.target("/b")))
        for _ in 0..<2 { _ = try await provider.request(bench.target("/a")) }
        let used = try #require(try await provider.failure(bench.target("/a")))
        try bench.write(entries: [])
        let empty = try #require(
            try await bench.provider(try ReplayTransport(bench.file)).failure(bench.target("/a"))
        )
        let texts = [miss, used, empty].map(\.reason)
        let lines = texts.map { $0.split(separator: "\n").map(String.init) }
        #expect(lines[0].first == "no entry of \"api.har\" matches GET \"https://api.example/b\" (2 entries)")
        #expect(lines[0].last?.hasPrefix("entry 1, GET \"https://api.example/a\": path differs") == true)
        #expect(lines[1].first == "every entry of \"api.har\" that matches GET \"https://api.example/a\" has been used")
        #expect(lines[1].last == "used: entries 0, 1")
        #expect(lines[2].last == "the recording is empty")
        for (text, lines) in zip(texts, lines) {
            #expect(lines.dropFirst().first?.contains("or use a RecordingTransport in mode .recordNew") == true)
            #expect(!text.contains("replayOnly"))
        }
    }

    @Test("a long part is shown from shortly before its first difference")
    func longPart() async throws {
        let path = "/" + String(repeating: "a", count: 200)
        try bench.write(entries: [("GET", "https://api.example\(path)/1", "1")])
        let provider = bench.provider(try bench.closed(.replayOnly))
        let failure = try #require(try await provider.failure(bench.target(path + "/2")))
        #expect(
            failure.reason.contains("path differs (sent …\"aaaaaaaaaaaaaaa/2\", recorded …\"aaaaaaaaaaaaaaa/1\")")
        )
        #expect(failure.reason.contains("(mode replayOnly, 1 entry)"))
        #expect(failure.reason.split(separator: "\n").allSatisfy { $0.count < 200 })
    }

    @Test("F05 a miss shows no secret")
    func nearestSecrets() async throws {
        try bench.write(entries: [("GET", "https://api.example/a?token=canary-recorded&x=1", "1")])
        let provider = bench.provider(try bench.closed(.replayOnly)) { request in
            request.appendQuery("token=canary-sent&x=2")
            try request.setHeader("Bearer canary-field", for: .authorization)
        }
        let failure = try #require(try await provider.failure(bench.target("/a/canary-field")))
        var dumped = ""
        dump(failure, to: &dumped)
        for text in [failure.reason, failure.description, dumped, failure.localizedDescription] {
            #expect(!text.contains("canary"))
        }
        #expect(failure.reason.contains("token=REDACTED&x=2"))
    }
}
