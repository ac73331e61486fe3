import Foundation
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Merging recordings", .watched)
struct RecordingMergeTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "merge-\(UUID())")

    private func write(_ name: String, _ entries: [HAREntry]) throws -> HARFile {
        let url = folder.appending(path: name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        var file = HARFile()
        for entry in entries { file.append(entry) }
        try file.write(to: url)
        return try HARFile(contentsOf: url)
    }

    private func entry(_ url: String, after seconds: Double?) -> HAREntry {
        HAREntry(Sample.exchange("GET", url, after: seconds ?? 0) { if seconds == nil { $0.start = nil } })
    }

    private func urls(_ file: HARFile) throws -> [String?] { try (0..<file.count).map { try file.entry(at: $0).url } }

    @Test("Entries are sorted by start time; entries with equal times keep the order of the files")
    func order() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try write("1.har", [entry("http://h/1", after: 1), entry("http://h/3", after: 3)])
        let second = try write("2.har", [entry("http://h/0", after: 0), entry("http://h/3b", after: 3)])
        let output = folder.appending(path: "out.har")
        #expect(try RecordingMerge.write([first, second], to: output) == 4)
        #expect(
            try urls(HARFile(contentsOf: output)) == ["http://h/0", "http://h/1", "http://h/3", "http://h/3b"]
        )
        #expect(RecordingCheck.findings(of: output) == [])
    }

    @Test("An entry without a start time stays after its predecessor")
    func undated() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var lost = entry("http://h/2?", after: nil)
        lost.json["startedDateTime"] = nil
        let first = try write("1.har", [entry("http://h/2", after: 2), lost])
        let second = try write("2.har", [entry("http://h/1", after: 1), entry("http://h/3", after: 3)])
        let output = folder.appending(path: "out.har")
        _ = try RecordingMerge.write([first, second], to: output)
        #expect(
            try urls(HARFile(contentsOf: output)) == ["http://h/1", "http://h/2", "http://h/2?", "http://h/3"]
        )
    }

    @Test("Custom members of other writers and unusable entries are kept")
    func unknown() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var foreign = entry("http://h/1", after: 1)
        foreign.json["_priority"] = .string("High")
        let broken = HAREntry(json: .object(["startedDateTime": .string("2020-01-01T00:00:00Z")]))
        let output = folder.appending(path: "out.har")
        _ = try RecordingMerge.write([try write("1.har", [foreign, broken])], to: output)
        let merged = try HARFile(contentsOf: output)
        #expect(try merged.entry(at: 0).json == broken.json)
        #expect(try merged.entry(at: 1).json == foreign.json)
    }

    @Test("Side files are included in the merged recording")
    func sideFiles() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let body = String(repeating: "0123456789", count: 200_000)
        let exchange = Sample.exchange("POST", "http://h/1", body: body) { $0.request.body = Data(body.utf8) }
        let place = folder.appending(path: "a/1.har")
        try FileManager.default.createDirectory(at: folder.appending(path: "a"), withIntermediateDirectories: true)
        let stored = try HARSideFiles(for: place).moveBodies(of: HAREntry(exchange))
        #expect(stored.sideFiles.count == 2)
        let file = try write("a/1.har", [stored])
        let output = folder.appending(path: "out.har")
        _ = try RecordingMerge.write([file], to: output)
        try FileManager.default.removeItem(at: folder.appending(path: "a"))
        let merged = try HARFile(contentsOf: output).exchange(at: 0)
        #expect(merged.response?.body == Data(body.utf8))
        #expect(merged.request.body == Data(body.utf8))
        #expect(try Data(contentsOf: output).count < 10_000)
    }
}
