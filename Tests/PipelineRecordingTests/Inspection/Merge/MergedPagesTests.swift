import Foundation
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Pages of a merged recording", .watched)
struct MergedPagesTests {
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

    private func page(_ id: String, _ title: String) -> JSONNode {
        .object([
            "startedDateTime": .string("2026-11-21T10:00:00.000Z"), "id": .string(id), "title": .string(title),
            "pageTimings": .object([:]),
        ])
    }

    private func write(_ name: String, pages: [JSONNode], refs: [String?], first: Double) throws -> HARFile {
        let entries = refs.enumerated().map { offset, ref in
            var entry = entry("http://h/\(name)/\(ref ?? "none")", after: first + Double(offset))
            entry.json["pageref"] = ref.map { .string($0) }
            return entry
        }
        var file = try write(name, entries)
        var log = file.log
        log["pages"] = .array(pages)
        file.replaceLog(with: log)
        try file.write(to: folder.appending(path: name))
        return try HARFile(contentsOf: folder.appending(path: name))
    }

    @Test("Pages are kept, and an ID that two files use for different pages is made unique")
    func pages() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try write("1.har", pages: [page("p", "one"), page("q", "q")], refs: ["p", "q", nil], first: 0)
        let second = try write(
            "2.har",
            pages: [page("p", "two"), page("q", "q"), page("p-2", "x")],
            refs: ["p", "q", "p-2"],
            first: 10
        )
        let third = try write("3.har", pages: [page("r", "r")], refs: ["p"], first: 20)
        let output = folder.appending(path: "out.har")
        #expect(try RecordingMerge.write([first, second, third], to: output) == 7)
        let merged = try HARFile(contentsOf: output)
        let pages = merged.log["pages"]?.elements ?? []
        let titles = Dictionary(grouping: pages) { $0["id"]?.string ?? "" }.mapValues {
            $0.map { $0["title"]?.string ?? "" }
        }
        #expect(titles.values.allSatisfy { $0.count == 1 })
        #expect(pages.map { $0["title"]?.string } == ["one", "q", "two", "x", "r"])
        let shown = try (0..<merged.count).map { index -> String? in
            let ref = try merged.entry(at: index).json["pageref"]?.string
            return ref.flatMap { titles[$0]?.first }
        }
        #expect(shown == ["one", "q", nil, "two", "q", "x", nil])
        #expect(try merged.entry(at: 6).json["pageref"] != nil)
    }
}
