import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("The chunks of a form", .watched)
struct MultipartChunksTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("A file is read in pieces of 64 KiB after the bytes before it, from the beginning each time")
    func filePieces() async throws {
        let file = try folder.file("f", byteCount: 150_000)
        let body = try MultipartFormDataEncodingTests.form(.file(file), .bytes(Data("x".utf8))).makeBody().body
        let rest = (MultipartFormDataEncodingTests.head(1) + "x" + MultipartFormDataEncodingTests.end).utf8.count
        #expect(body.byteCount == MultipartFormDataEncodingTests.head(0).utf8.count + 150_000 + rest)
        for _ in 0..<2 {
            var sizes: [Int] = []
            for try await chunk in body.chunks() { sizes.append(chunk.count) }
            #expect(sizes == [MultipartFormDataEncodingTests.head(0).utf8.count, 65_536, 65_536, 18_928, rest])
        }
        let isSame = try await body.collect(upTo: 1 << 20).contains(Data(contentsOf: file))
        #expect(isSame)
    }

    @Test("A large part in memory is passed on unchanged, and parts below 64 KiB are combined")
    func gathering() async throws {
        let large = Data(repeating: 1, count: 2 << 20)
        let small = Data(repeating: 2, count: 40 << 10)
        let body = try MultipartFormDataEncodingTests.form(.bytes(large), .bytes(small), .bytes(small), .bytes(small))
            .makeBody().body
        var sizes: [Int] = []
        for try await chunk in body.chunks() { sizes.append(chunk.count) }
        let head = MultipartFormDataEncodingTests.head(1).utf8.count
        let last = head + small.count + MultipartFormDataEncodingTests.end.utf8.count
        #expect(sizes == [head - 2, large.count, 2 * (head + small.count), last])
    }

    @Test("F10 10,000 parts from memory or from files arrive in order and leave no file open")
    func manyParts() async throws {
        let file = try folder.file("f", Data("abc".utf8))
        for body in [PipelineBody.bytes(Data("abc".utf8)), .file(file)] {
            let parts = (0..<10_000).map { MultipartFormBodyPart(body, name: "\($0)", mimeType: "a/b") }
            let made = try MultipartFormData(boundary: "B", parts: parts).makeBody()
            let data = try await made.body.collect(upTo: 10 << 20)
            #expect(data.count == made.body.byteCount)
            let read = try MultipartReader.parts(of: data, contentType: made.contentType)
            #expect(read.map(\.name) == (0..<10_000).map { "\($0)" })
            #expect(read.allSatisfy { $0.content == Data("abc".utf8) })
        }
        #if os(Linux)
        #expect(openCount(of: file) == 0)
        #endif
    }

    @Test("A reader that stops in the middle of a file closes it")
    func dropped() async throws {
        let file = try folder.file("f", byteCount: 200_000)
        let body = try MultipartFormDataEncodingTests.form(.file(file)).makeBody().body
        do {
            var iterator = body.chunks().makeAsyncIterator()
            _ = try await iterator.next()
            #if os(Linux)
            #expect(openCount(of: file) == 0)
            #endif
            _ = try await iterator.next()
            #if os(Linux)
            #expect(openCount(of: file) == 1)
            #endif
        }
        #if os(Linux)
        await eventually { openCount(of: file) == 0 }
        #endif
        _ = try await body.collect(upTo: 1 << 20)
        #if os(Linux)
        #expect(openCount(of: file) == 0)
        #endif
    }
}
