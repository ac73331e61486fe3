import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("PipelineBody of a file", .tags(.concurrent), .watched)
struct FileReaderTests {
    @Test("A file is read in pieces of 64 KiB and can be read repeatedly")
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

    @Test("A file that is read in several batches arrives complete and in order")
    func batches() async throws {
        let piece = 65_536
        let bytes = (UInt8(0)..<20).flatMap { [UInt8](repeating: $0, count: piece) }
        let data = Data(bytes + [20])
        try await PipelineBodyTests.withFile(data) { url in
            var firsts: [UInt8?] = []
            var count = 0
            for try await chunk in PipelineBody.file(url).chunks() {
                firsts.append(chunk.first)
                count += chunk.count
            }
            #expect(firsts == (0...20).map { UInt8($0) })
            #expect(count == data.count)
        }
    }

    @Test("A cancelled reader gets no further piece, not even one that has already been read")
    func cancelled() async throws {
        try await PipelineBodyTests.withFile(Data(count: 400_000)) { url in
            let task = Task {
                var iterator = PipelineBody.file(url).chunks().makeAsyncIterator()
                // Reading the second piece also reads those after it.
                for _ in 0..<2 { _ = try await iterator.next() }
                withUnsafeCurrentTask { $0?.cancel() }
                return try await iterator.next()
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test("A file that changes has its new length and content")
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
