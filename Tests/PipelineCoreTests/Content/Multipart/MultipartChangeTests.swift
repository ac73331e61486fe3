import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("Parts that change while they are sent", .tags(.concurrent), .watched)
struct MultipartChangeTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static func form(_ body: PipelineBody) -> MultipartFormData {
        MultipartFormData(boundary: "B", parts: [MultipartFormBodyPart(body, name: "f"), .field("z", "z")])
    }

    @Test(
        "F10 A file that grows or shrinks while it is read fails with bodyChanged and sends no excess bytes",
        arguments: [65_537, 131_072, 150_000],
        [-150_000, -70_000, -1, 1, 70_000]
    )
    func changedFile(_ byteCount: Int, _ difference: Int) async throws {
        let file = try folder.file("f.bin", byteCount: byteCount)
        let body = try Self.form(.file(file)).makeBody().body
        let announced = try #require(body.byteCount)
        // The head is the first chunk, so this runs between two reads of the file.
        let result = try await body.drain { index in
            if index == 1 { try TemporaryFolder.resize(file, to: max(0, byteCount + difference)) }
        }
        #expect(result.error?.code == .bodyChanged)
        #expect(result.error?.reason.contains("part 1, \"f\"") == true)
        #expect(result.byteCount < announced)
    }

    @Test(
        "F10 A file resized before it is read fails with bodyChanged, and is sent once its length is restored",
        arguments: [-1, 1]
    )
    func changedBefore(_ difference: Int) async throws {
        let file = try folder.file("f.bin", byteCount: 100)
        let body = try Self.form(.file(file)).makeBody().body
        try TemporaryFolder.resize(file, to: 100 + difference)
        #expect(try await body.drain().error?.code == .bodyChanged)
        try TemporaryFolder.resize(file, to: 100)
        let again = try await body.drain()
        #expect(again.error == nil)
        #expect(again.byteCount == body.byteCount)
    }

    @Test("A new request uses the file's new length")
    func newRequest() async throws {
        let file = try folder.file("f.bin", byteCount: 100)
        let form = Self.form(.file(file))
        let first = try #require(try form.makeBody().body.byteCount)
        try TemporaryFolder.resize(file, to: 130)
        let body = try form.makeBody().body
        #expect(body.byteCount == first + 30)
        #expect(try await body.drain().error == nil)
    }

    @Test(
        "M67 B-A6 A stream with fewer or more bytes than announced fails with bodyChanged",
        arguments: [0, 2, 3, 5, 9]
    )
    func streamLength(_ announced: Int) async throws {
        let chunks = ["ab", "", "cd"].map { Data($0.utf8) }
        let body = try Self.form(
            .stream(byteCount: announced) {
                AsyncStream { continuation in
                    for chunk in chunks { continuation.yield(chunk) }
                    continuation.finish()
                }
            }
        ).makeBody().body
        let total = try #require(body.byteCount)
        let result = try await body.drain()
        #expect(result.error?.code == .bodyChanged)
        #expect(result.byteCount < total)
        let hasFewer = announced > 4
        #expect(
            result.error?.reason.contains(
                hasFewer ? "had 4 bytes, \(announced) were announced" : "more than the \(announced)"
            ) == true
        )
    }

    @Test("An error that a stream throws is passed on unchanged and ends the body")
    func throwingStream() async throws {
        struct Broken: Error {}
        let chunks = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(Data("a".utf8))
            continuation.finish(throwing: Broken())
        }
        var iterator = try Self.form(.stream(chunks)).makeBody().body.chunks().makeAsyncIterator()
        _ = try await iterator.next()
        #expect(try await iterator.next() == Data("a".utf8))
        await #expect(throws: Broken.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
    }

    @Test(
        "A stream that announces a negative or an overflowing length fails with a typed error",
        arguments: [-1, .max]
    )
    func impossibleLength(_ byteCount: Int) throws {
        let form = Self.form(.stream(byteCount: byteCount) { AsyncStream<Data> { nil } })
        let error = #expect(throws: PipelineError.self) { try form.makeBody() }
        #expect(error?.code == .encoding)
        #expect(error?.reason.contains("part 1, \"f\"") == true)
    }

    @Test("I8 A form whose reader is cancelled throws instead of ending as if complete")
    func cancelled() async throws {
        let never = AsyncStream<Data> { _ in }
        let part = MultipartFormBodyPart(.stream(never), name: "s")
        let body = try MultipartFormData(boundary: "B", parts: [part]).makeBody().body
        let reader = Task {
            var data = Data()
            for try await chunk in body.chunks() { data += chunk }
            return data
        }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
    }
}
