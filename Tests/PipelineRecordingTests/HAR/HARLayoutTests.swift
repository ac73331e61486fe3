import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("The layout of HAR files", .watched)
struct HARLayoutTests {
    private func text(_ url: URL) throws -> String { String(decoding: try Data(contentsOf: url), as: UTF8.self) }

    @Test(
        "Added entries are formatted like the others, and the text around them is unchanged",
        arguments: [
            (#"{"log":{"entries":[]}}"#, #"{"log":{"entries":[{"a":[1]}]}}"#),
            (#"{"log":{"entries":[ ],"x":1}} "#, #"{"log":{"entries":[{"a":[1]}],"x":1}} "#),
            (#"{"log": {"entries": [1, 2]}}"#, #"{"log": {"entries": [1, 2, {"a":[1]}]}}"#),
            ("\u{feff}{\"log\":{\"entries\":[1]}}", "\u{feff}{\"log\":{\"entries\":[1,{\"a\":[1]}]}}"),
            (
                "{\n\t\"log\": {\n\t\t\"entries\": [\n\t\t\t1\n\t\t]\n\t}\n}",
                "{\n\t\"log\": {\n\t\t\"entries\": [\n\t\t\t1,\n\t\t\t{\n\t\t\t\t\"a\": [\n\t\t\t\t\t1\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}"
            ),
            (
                "{\"log\":{\"entries\":[\n    1\n]}}",
                "{\"log\":{\"entries\":[\n    1,\n    {\n      \"a\": [\n        1\n      ]\n    }\n]}}"
            ),
            (
                "{\r\n \"log\": {\r\n  \"entries\": [\r\n   1,\r\n   2\r\n  ]}}",
                "{\r\n \"log\": {\r\n  \"entries\": [\r\n   1,\r\n   2,\r\n   {\n    \"a\": [\n     1\n    ]\n   }\r\n  ]}}"
            ),
            (
                "{\n    \"log\": {\n        \"entries\": []\n    }\n}",
                "{\n    \"log\": {\n        \"entries\": [\n            {\n                \"a\": [\n                    1\n"
                    + "                ]\n            }\n        ]\n    }\n}"
            ),
            (
                "{\n  \"log\": {\n    \"entries\": [\n    ]\n  }\n}",
                "{\n  \"log\": {\n    \"entries\": [\n      {\n        \"a\": [\n          1\n        ]\n      }\n    ]\n  }\n}"
            ),
        ]
    )
    func layout(before: String, after: String) throws {
        let bench = try HARBench()
        var file = try HARFile(contentsOf: bench.write(before))
        try file.write(to: bench.url("same.har"))
        #expect(try text(bench.url("same.har")) == before)
        let added = HAREntry(json: .object(["a": .array([.integer(1)])]))
        file.append(added)
        try file.write(to: bench.url("new.har"))
        #expect(try text(bench.url("new.har")) == after)
        let again = try HARFile(contentsOf: bench.url("new.har"))
        #expect(try again.entry(at: again.count - 1) == added)
    }
}
