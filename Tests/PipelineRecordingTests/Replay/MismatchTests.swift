import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

@Suite("What a replay says of a miss", .timeLimit(.minutes(10)), .tags(.concurrent))
struct MismatchTests {
    private let bench: RecordingBench

    init() throws { bench = try RecordingBench() }

    @Test("F05 a miss lists the three nearest entries part by part, the file, the mode, and how to record")
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
            lines[1]
                == "entry 1, POST \"https://api.example/users/2\": method differs (sent \"GET\", recorded \"POST\")"
        )
        #expect(lines[2].contains("path differs (sent \"/users/2\", recorded \"/users/1\")"))
        #expect(lines[2].contains("query differs (sent \"\", recorded \"page=1\")"))
        #expect(lines[3].hasPrefix("entry 3"))
        #expect(lines[4].contains("PIPELINE_RECORD=recordNew"))
    }

    @Test("a long part is shown from shortly before the place where it differs")
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
