import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("HAR files that change while they are open", .watched)
struct HARSourceTests {
    private func text(_ url: URL) throws -> String { String(decoding: try Data(contentsOf: url), as: UTF8.self) }

    @Test("A file truncated while open is an error, and the file to be replaced is unchanged")
    func shortened() throws {
        let bench = try HARBench()
        let url = try bench.write(entries: [HARFileTests.small, HARFileTests.small])
        let file = try HARFile(contentsOf: url)
        try Data("old".utf8).write(to: bench.url("other.har"))
        let handle = try FileHandle(forWritingTo: url)
        try handle.truncate(atOffset: 60)
        #expect(failure { _ = try file.entry(at: 1) }?.code == .recording(.corrupt))
        #expect(failure { try file.write(to: bench.url("other.har")) }?.code == .recording(.corrupt))
        #expect(try text(bench.url("other.har")) == "old")
        #expect(bench.names == ["other.har", "test.har"])
    }
}
