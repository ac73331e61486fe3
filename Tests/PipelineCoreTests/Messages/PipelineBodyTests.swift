import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("PipelineBody", .tags(.concurrent), .watched)
struct PipelineBodyTests {
    static func stream(_ chunks: [String], byteCount: Int? = nil) -> PipelineBody {
        .stream(makeChunks(chunks), byteCount: byteCount)
    }

    static func makeChunks(_ chunks: [String]) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for chunk in chunks { continuation.yield(Data(chunk.utf8)) }
            continuation.finish()
        }
    }

    /// Runs the closure with a new file, which is removed afterwards.
    static func withFile<Value>(_ data: Data, _ run: (URL) async throws -> Value) async throws -> Value {
        let url = FileManager.default.temporaryDirectory.appending(component: "body-\(UUID().uuidString).txt")
        try data.write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try await run(url)
    }

    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let body: PipelineBody
        let text: String
        let byteCount: Int?
        let isReplayable: Bool
    }

    static let kinds = [
        Kind(testDescription: "none", body: .absent, text: "", byteCount: 0, isReplayable: true),
        Kind(testDescription: "no bytes", body: .bytes(Data()), text: "", byteCount: 0, isReplayable: true),
        Kind(testDescription: "bytes", body: .bytes(Data("ab".utf8)), text: "ab", byteCount: 2, isReplayable: true),
        Kind(
            testDescription: "stream",
            body: stream(["a", "", "bc"]),
            text: "abc",
            byteCount: nil,
            isReplayable: false
        ),
        Kind(
            testDescription: "sized",
            body: stream(["abc"], byteCount: 3),
            text: "abc",
            byteCount: 3,
            isReplayable: false
        ),
        Kind(
            testDescription: "replaying",
            body: .stream(byteCount: 2) { makeChunks(["a", "b"]) },
            text: "ab",
            byteCount: 2,
            isReplayable: true
        ),
    ]

    @Test("Each kind knows its length and whether it can be read again", arguments: kinds)
    func kind(_ kind: Kind) async throws {
        #expect(kind.body.byteCount == kind.byteCount)
        #expect(kind.body.isReplayable == kind.isReplayable)
        #expect(kind.body.fileURL == nil)
        #expect(kind.body.isAbsent == (kind.testDescription == "none"))
        #expect(try await kind.body.collect(upTo: 10) == Data(kind.text.utf8))
        if kind.isReplayable {
            #expect(try await kind.body.collect(upTo: 10) == Data(kind.text.utf8))
        } else {
            let error = await #expect(throws: PipelineError.self) { try await kind.body.collect(upTo: 10) }
            #expect(error?.code == .bodyConsumed)
            await #expect(throws: PipelineError.self) { for try await _ in kind.body.chunks() {} }
        }
    }

    @Test("Only a body in memory has bytes without reading")
    func bytes() {
        #expect(PipelineBody.absent.bytes == Data())
        #expect(PipelineBody.bytes(Data([1])).bytes == Data([1]))
        #expect(Self.stream(["a"]).bytes == nil)
        #expect(PipelineBody.file(URL(filePath: "/x")).bytes == nil)
        #expect(PipelineBody.file(URL(filePath: "/x")).fileURL?.path() == "/x")
    }

    @Test("Exactly one of many readers gets a stream")
    func manyReaders() async {
        let body = Self.stream(["abc"])
        let outcomes = await withTaskGroup(of: PipelineError.Code?.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    do {
                        return try await body.collect(upTo: 3) == Data("abc".utf8) ? nil : .transport
                    } catch {
                        return (error as? PipelineError)?.code
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count { $0 == nil } == 1)
        #expect(outcomes.count { $0 == .bodyConsumed } == 49)
    }

    @Test("Copies of a stream body share its single read")
    func copies() async throws {
        let body = Self.stream(["abc"])
        let copy = body
        _ = try await copy.collect(upTo: 3)
        await #expect(throws: PipelineError.self) { try await body.collect(upTo: 3) }
    }

    @Test("A body of the limit is collected; one byte more fails", arguments: [0, 1, 5], [false, true])
    func limit(_ limit: Int, _ isStream: Bool) async throws {
        func make(_ count: Int) -> PipelineBody {
            let text = String(repeating: "x", count: count)
            return isStream ? Self.stream([text]) : .bytes(Data(text.utf8))
        }
        let collected = try await make(limit).collect(upTo: limit)
        #expect(collected.count == limit)
        let larger = make(limit + 1)
        let error = await #expect(throws: PipelineError.self) { try await larger.collect(upTo: limit) }
        #expect(error?.code == .limit(.bodyBytes))
        #expect(error?.reason.contains("\(limit)") == true)
    }

    @Test("A stream whose announced length exceeds the limit is refused before it is read")
    func announcedLength() async throws {
        let body = Self.stream(["abc"], byteCount: 3)
        await #expect(throws: PipelineError.self) { try await body.collect(upTo: 2) }
        #expect(try await body.collect(upTo: 3) == Data("abc".utf8))
    }

    @Test("An endless stream is not read beyond the limit")
    func endlessStream() async throws {
        let count = Mutex(0)
        let chunks = AsyncStream { () -> Data? in
            count.withLock { $0 += 1 }
            return Data(repeating: 1, count: 10)
        }
        await #expect(throws: PipelineError.self) { try await PipelineBody.stream(chunks).collect(upTo: 100) }
        #expect(count.withLock { $0 } == 11)
    }

    @Test("An error that a stream throws arrives after the preceding bytes")
    func throwingStream() async throws {
        struct Broken: Error {}
        let chunks = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(Data("a".utf8))
            continuation.finish(throwing: Broken())
        }
        let read = Mutex<[Data]>([])
        await #expect(throws: Broken.self) {
            for try await chunk in PipelineBody.stream(chunks).chunks() { read.withLock { $0.append(chunk) } }
        }
        #expect(read.withLock { $0 } == [Data("a".utf8)])
    }

    @Test("Bytes arrive in one piece; an empty body has no pieces")
    func pieces() async throws {
        var pieces = 0
        for try await chunk in PipelineBody.bytes(Data("abc".utf8)).chunks() {
            #expect(chunk == Data("abc".utf8))
            pieces += 1
        }
        for try await _ in PipelineBody.bytes(Data()).chunks() { pieces += 10 }
        for try await _ in PipelineBody.absent.chunks() { pieces += 10 }
        #expect(pieces == 1)
    }
}

@Suite("PipelineBody: announced length and cancellation", .tags(.concurrent), .watched)
struct PipelineBodyEndTests {
    @Test("I8 A stream shorter than its announced length fails as truncated")
    func short() async {
        let body = PipelineBody.stream(byteCount: 10) { AsyncStream(unfolding: once(Data(count: 9))) }
        let error = await pipelineError { _ = try await body.collect(upTo: 100) }
        #expect(error?.code == .truncated)
    }

    @Test("A stream longer than its announced length is read to its end")
    func long() async throws {
        let body = PipelineBody.stream(byteCount: 3) { AsyncStream(unfolding: once(Data(count: 5))) }
        #expect(try await body.collect(upTo: 5).count == 5)
    }

    @Test("I8 A stream that ends because its reader is cancelled throws CancellationError")
    func cancelled() async {
        let never = AsyncStream<Data> { _ in }
        let reader = Task { try await PipelineBody.stream(never).collect(upTo: 100) }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
    }
}
