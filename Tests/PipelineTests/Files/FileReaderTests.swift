import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("PipelineBody of a file", .tags(.concurrent))
struct FileReaderTests {
    @Test("A file is read in pieces of 64 KiB, again and again")
    func file() async throws {
        let data = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        try await PipelineBodyTests.withFile(data) { url in
            let body = PipelineBody.file(url)
            #expect(body.byteCount == 200_000)
            #expect(body.isReplayable)
            #expect(body.fileURL == url)
            for _ in 0..<2 {
                var sizes: [Int] = []
                for try await chunk in body.chunks() { sizes.append(chunk.count) }
                #expect(sizes == [65_536, 65_536, 65_536, 3_392])
                #expect(try await body.collect(upTo: 200_000) == data)
            }
            let error = await #expect(throws: PipelineError.self) { try await body.collect(upTo: 199_999) }
            #expect(error?.code == .limit(.bodyBytes))
        }
    }

    @Test("A file that changes has its new length and bytes")
    func changingFile() async throws {
        try await PipelineBodyTests.withFile(Data("abc".utf8)) { url in
            let body = PipelineBody.file(url)
            #expect(body.byteCount == 3)
            try Data("abcdef".utf8).write(to: url)
            #expect(body.byteCount == 6)
            #expect(try await body.collect(upTo: 6) == Data("abcdef".utf8))
        }
    }

    @Test("An empty file has no pieces")
    func emptyFile() async throws {
        try await PipelineBodyTests.withFile(Data()) { url in
            #expect(PipelineBody.file(url).byteCount == 0)
            let data = try await PipelineBody.file(url).collect(upTo: 0)
            #expect(data.isEmpty)
        }
    }
}
