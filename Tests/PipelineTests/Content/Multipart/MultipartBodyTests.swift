import Foundation
import PipelineTesting
import TestSupport
import Testing

@testable import Pipeline

@Suite("The body of a form")
struct MultipartBodyTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static func chunks(_ texts: [String]) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for text in texts { continuation.yield(Data(text.utf8)) }
            continuation.finish()
        }
    }

    private static func form(_ bodies: PipelineBody...) -> MultipartFormData {
        MultipartFormData(
            boundary: "B",
            parts: bodies.enumerated().map { MultipartFormBodyPart($1, name: "\($0)", fileName: "f", mimeType: "a/b") }
        )
    }

    private static func head(_ index: Int) -> String {
        (index == 0 ? "" : "\r\n") + "--B\r\nContent-Disposition: form-data; name=\"\(index)\"; filename=\"f\"\r\n"
            + "Content-Type: a/b\r\n\r\n"
    }

    private static let end = "\r\n--B--\r\n"

    @Test("Parts in memory are bytes up to 1 MiB, a stream of known length above, and the same bytes either way")
    func inMemory() async throws {
        let frame = Self.head(0).utf8.count + Self.head(1).utf8.count + Self.end.utf8.count + 1
        let fits = Data(repeating: 7, count: (1 << 20) - frame)
        for content in [fits, fits + Data([7])] {
            let body = try Self.form(.bytes(content), .bytes(Data("x".utf8))).makeBody().body
            #expect((body.bytes != nil) == (content.count == fits.count))
            #expect(body.byteCount == content.count + frame)
            #expect(body.isReplayable)
            let expected = Data(Self.head(0).utf8) + content + Data((Self.head(1) + "x" + Self.end).utf8)
            for _ in 0..<2 {
                let isSame = try await body.collect(upTo: 2 << 20) == expected
                #expect(isSame)
            }
        }
    }

    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let body: PipelineBody
        let isKnown: Bool
        let isReplayable: Bool
    }

    private static let kinds = [
        Kind(testDescription: "stream", body: .stream(chunks(["ab", "", "c"])), isKnown: false, isReplayable: false),
        Kind(
            testDescription: "sized",
            body: .stream(chunks(["abc"]), byteCount: 3),
            isKnown: true,
            isReplayable: false
        ),
        Kind(
            testDescription: "replaying",
            body: .stream { chunks(["a", "bc"]) },
            isKnown: false,
            isReplayable: true
        ),
        Kind(
            testDescription: "replaying, sized",
            body: .stream(byteCount: 3) { chunks(["abc"]) },
            isKnown: true,
            isReplayable: true
        ),
    ]

    @Test("B-M36 The length is known if every part's is, and the body replayable if every part is", arguments: kinds)
    func streams(_ kind: Kind) async throws {
        let file = try folder.file("f", Data("file".utf8))
        let body = try Self.form(.bytes(Data("x".utf8)), kind.body, .file(file)).makeBody().body
        let expected = Self.head(0) + "x" + Self.head(1) + "abc" + Self.head(2) + "file" + Self.end
        #expect(body.byteCount == (kind.isKnown ? expected.utf8.count : nil))
        #expect(body.isReplayable == kind.isReplayable)
        #expect(body.bytes == nil)
        #expect(try await body.text() == expected)
        if kind.isReplayable {
            #expect(try await body.text() == expected)
        } else {
            let error = await #expect(throws: PipelineError.self) { try await body.text() }
            #expect(error?.code == .bodyConsumed)
        }
    }

    @Test("A stream that can be read once fails in the second request that is made of it")
    func oneShotPart() async throws {
        let form = Self.form(.stream(Self.chunks(["abc"])))
        #expect(try await form.wire() == Self.head(0) + "abc" + Self.end)
        let error = await #expect(throws: PipelineError.self) { try await form.wire() }
        #expect(error?.code == .bodyConsumed)
    }

    @Test("A file is read in pieces of 64 KiB, after what stands before it, and each reading begins anew")
    func filePieces() async throws {
        let file = try folder.file("f", byteCount: 150_000)
        let body = try Self.form(.file(file), .bytes(Data("x".utf8))).makeBody().body
        let rest = (Self.head(1) + "x" + Self.end).utf8.count
        #expect(body.byteCount == Self.head(0).utf8.count + 150_000 + rest)
        for _ in 0..<2 {
            var sizes: [Int] = []
            for try await chunk in body.chunks() { sizes.append(chunk.count) }
            #expect(sizes == [Self.head(0).utf8.count, 65_536, 65_536, 18_928, rest])
        }
        let isSame = try await body.collect(upTo: 1 << 20).contains(Data(contentsOf: file))
        #expect(isSame)
    }

    @Test("A part of 64 KiB in memory is passed on as it is, smaller ones are gathered")
    func gathering() async throws {
        let large = Data(repeating: 1, count: 2 << 20)
        let small = Data(repeating: 2, count: 40 << 10)
        let body = try Self.form(.bytes(large), .bytes(small), .bytes(small), .bytes(small)).makeBody().body
        var sizes: [Int] = []
        for try await chunk in body.chunks() { sizes.append(chunk.count) }
        let head = Self.head(1).utf8.count
        let last = head + small.count + Self.end.utf8.count
        #expect(sizes == [head - 2, large.count, 2 * (head + small.count), last])
    }

    @Test("F10 10,000 parts arrive, in memory and as files, in order and with no file left open")
    func manyParts() async throws {
        let file = try folder.file("f", Data("abc".utf8))
        for body in [PipelineBody.bytes(Data("abc".utf8)), .file(file)] {
            let parts = (0..<10_000).map { MultipartFormBodyPart(body, name: "\($0)", mimeType: "a/b") }
            let made = try MultipartFormData(boundary: "B", parts: parts).makeBody()
            let data = try await made.body.collect(upTo: 10 << 20)
            #expect(data.count == made.body.byteCount)
            let read = try MultipartReader(contentType: made.contentType).parts(of: data)
            #expect(read.map(\.name) == (0..<10_000).map { "\($0)" })
            #expect(read.allSatisfy { $0.content == Data("abc".utf8) })
        }
        #if os(Linux)
        #expect(openCount(of: file) == 0)
        #endif
    }

    @Test("A reader that stops in the midst of a file closes it")
    func dropped() async throws {
        let file = try folder.file("f", byteCount: 200_000)
        let body = try Self.form(.file(file)).makeBody().body
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
