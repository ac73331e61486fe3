import Dispatch
import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("GzipPlugin: limits and streams", .timeLimit(.minutes(10)), .tags(.concurrent))
struct GzipLimitsTests {
    private let text = GzipDecodingTests.text

    private static func answer(_ body: PipelineBody, _ coding: String = "gzip") -> ScriptedTransport {
        ScriptedTransport(always: .status(200, headers: [.contentEncoding: coding], body: body))
    }

    private static let free = GzipPlugin.Limits(ratio: 1_000_000)

    // MARK: Limits

    @Test("Z05: a body in memory may have exactly as many bytes as allowed", arguments: [0, 1, 5_000, 70_000, 300_000])
    func decodedByteCount(limit: Int) async throws {
        for (count, isAllowed) in [(limit, true), (limit + 1, false)] where count > 0 {
            let body = GzipBytes.gzip(GzipBytes.json(count))
            let own = CodedAnswer(body: body, plugins: [GzipPlugin(limits: .init(decodedByteCount: limit))])
            #expect(try await own.code(.memory) == (isAllowed ? nil : .limit(.decodedBytes)))
            #expect(try await own.code(.blocks) == nil)
            guard body.count <= limit else { continue }
            let provider = CodedAnswer(body: body, limits: .init(bufferedBodyByteCount: limit))
            #expect(try await provider.code(.memory) == (isAllowed ? nil : .limit(.decodedBytes)))
        }
    }

    @Test("Z05: a body may grow by exactly the ratio allowed", arguments: [Serving.memory, .blocks])
    func ratio(serving: Serving) async throws {
        let body = GzipBytes.gzip(Data(count: 3 << 20))
        let exact = (3 << 20) / body.count
        for (ratio, code) in [(exact + 30, nil), (exact - 30, PipelineError.Code.limit(.decodedBytes))] {
            let answer = CodedAnswer(body: body, plugins: [GzipPlugin(limits: .init(ratio: ratio))])
            #expect(try await answer.code(serving) == code)
        }
        let below = GzipBytes.gzip(Data(count: 1 << 20))
        #expect(try await CodedAnswer(body: below).code(serving) == nil)
        let above = GzipBytes.gzip(Data(count: (1 << 20) + 1))
        #expect(try await CodedAnswer(body: above).code(serving) == .limit(.decodedBytes))
        let early = CodedAnswer(body: below, plugins: [GzipPlugin(limits: .init(ratioFreeByteCount: 1 << 16))])
        #expect(try await early.code(serving) == .limit(.decodedBytes))
    }

    @Test("Z05: of a bomb that is streamed little is read, and the exchange is closed")
    func bombStreamed() async throws {
        let block = GzipBytes.bombBlock
        let pieces = Pieces(block, of: block.count, isEndless: true)
        let body = PipelineBody.stream(Bomb(pieces: pieces))
        let provider = Provider<Ask>(transport: Self.answer(body), plugins: [GzipPlugin()])
        var iterator = try await provider.stream(Ask()).body.makeAsyncIterator()
        var count = 0
        let error = await #expect(throws: PipelineError.self) {
            while let piece = try await iterator.next() { count += piece.count }
        }
        #expect(error?.code == .limit(.decodedBytes))
        #expect(count <= 1 << 20)
        #expect(pieces.takenCount <= 3)
        #expect(pieces.isLetGo)
        #expect(try await iterator.next() == nil)
    }

    @Test("Z05: a bomb in memory, and one in another, is decoded no further than the limits")
    func bombInMemory() async throws {
        var bomb = GzipBytes.bombHead
        for _ in 0..<1_024 { bomb += GzipBytes.bombBlock }
        #expect(bomb.count < 1_200_000)
        #expect(try await CodedAnswer(body: bomb).code(.memory) == .limit(.decodedBytes))
        #expect(try await CodedAnswer(body: bomb).code(.blocks) == .limit(.decodedBytes))
        let nested = GzipBytes.gzip(GzipBytes.gzip(bomb))
        #expect(nested.count < 20_000)
        let answer = CodedAnswer(body: nested, coding: "gzip, gzip, gzip")
        #expect(try await answer.code(.memory) == .limit(.decodedBytes))
        #expect(try await answer.code(.blocks) == .limit(.decodedBytes))
    }

    @Test("Z05: the inner coding of a bomb is held against what has arrived")
    func bombInside() async throws {
        // What comes out at the end is small, what comes out in between is not.
        let bomb = GzipBytes.gzip(GzipBytes.gzip(text) + Data(count: 8 << 20))
        let answer = CodedAnswer(body: bomb, coding: "gzip, gzip")
        #expect(try await answer.code(.blocks) == .limit(.decodedBytes))
        #expect(try await answer.code(.memory) == .limit(.decodedBytes))
    }

    @Test("Z05: blocks of nothing make nothing, and end as truncated")
    func flushBomb() async throws {
        var body = GzipBytes.bombHead
        for _ in 0..<200_000 { body += [0, 0, 0, 0xff, 0xff] }
        for serving in [Serving.memory, .blocks] {
            #expect(try await CodedAnswer(body: body).code(serving) == .contentCoding(.truncated))
        }
    }

    // MARK: Streams

    @Test("A stream is decoded as it is read: what has arrived can be read before more has")
    func asRead() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        let json = GzipBytes.json(300_000)
        let body = GzipBytes.gzip(json)
        let provider = Provider<Ask>(transport: Self.answer(.stream(stream)), plugins: [GzipPlugin()])
        let response = try await provider.stream(Ask())
        var iterator = response.body.makeAsyncIterator()
        continuation.yield(body.prefix(body.count / 2))
        var read = try #require(try await iterator.next())
        #expect(json.starts(with: read))
        continuation.yield(body.dropFirst(body.count / 2))
        continuation.finish()
        while let piece = try await iterator.next() {
            #expect((1...65_536).contains(piece.count))
            read += piece
        }
        #expect(read == json)
        #expect(try await iterator.next() == nil)
    }

    @Test("Fifty megabytes pass in pieces of at most 64 KiB, of which no more is taken than was asked for")
    func pieces() async throws {
        let block = GzipBytes.bombBlock
        let pieces = Pieces(block, of: block.count, isEndless: true)
        let body = PipelineBody.stream(Bomb(pieces: pieces))
        let plugin = GzipPlugin(limits: Self.free)
        let provider = Provider<Ask>(transport: Self.answer(body), plugins: [plugin])
        var iterator = try await provider.stream(Ask()).body.makeAsyncIterator()
        var count = 0
        while count < 50 << 20 {
            let piece = try #require(try await iterator.next())
            #expect(piece.count <= 65_536)
            count += piece.count
            #expect(pieces.takenCount <= (count >> 20) + 2)
        }
    }

    @Test("A reader who stops closes the exchange")
    func stops() async throws {
        let pieces = Pieces(GzipBytes.gzip(GzipBytes.noise(1 << 20)), of: 16_384)
        let provider = Provider<Ask>(transport: Self.answer(.stream(pieces)), plugins: [GzipPlugin()])
        for try await _ in try await provider.stream(Ask()).body { break }
        #expect(pieces.takenCount < 10)
        #expect(pieces.isLetGo)
    }

    @Test("A stream can be read once, as the one underneath")
    func once() async throws {
        let pieces = Pieces(GzipBytes.gzip(text), of: 7)
        let provider = Provider<Ask>(transport: Self.answer(.stream(pieces)), plugins: [GzipPlugin()])
        let body = try await provider.stream(Ask()).response.body
        #expect(!body.isReplayable)
        #expect(try await body.collect(upTo: 1_000) == text)
        let error = await #expect(throws: PipelineError.self) { try await body.collect(upTo: 1_000) }
        #expect(error?.code == .bodyConsumed)
    }

    @Test("A cancelled reader ends in CancellationError, not as if the body were whole")
    func cancelled() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        continuation.yield(GzipBytes.gzip(text).dropLast(8))
        let provider = Provider<Ask>(transport: Self.answer(.stream(stream)), plugins: [GzipPlugin()])
        let (read, hasRead) = AsyncStream.makeStream(of: Data.self)
        let reader = Task {
            for try await piece in try await provider.stream(Ask()).body { hasRead.yield(piece) }
        }
        for await _ in read { break }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        continuation.finish()
    }

    @Test("A cancelled call ends before its body is decoded or compressed")
    func cancelledInMemory() async throws {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let transport = Self.answer(.bytes(GzipBytes.gzip(Data(count: 1_000))))
            return try await Provider<Ask>(transport: transport, plugins: [GzipPlugin()]).request(Ask())
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("What the stream underneath throws is thrown")
    func failing() async throws {
        let body = GzipBytes.gzip(text)
        let stream = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(body.prefix(30))
            continuation.finish(throwing: PipelineError(.connectionLost, "by script"))
        }
        let provider = Provider<Ask>(transport: Self.answer(.stream(stream)), plugins: [GzipPlugin()])
        let error = await #expect(throws: PipelineError.self) {
            for try await _ in try await provider.stream(Ask()).body {}
        }
        #expect(error?.code == .connectionLost)
    }

    @Test("A stream is decoded away from the reader's actor, which it comes back to for each piece")
    func awayFromActor() async throws {
        let json = GzipBytes.json(500_000)
        let pieces = Pieces(GzipBytes.gzip(json), of: 1_024)
        let provider = Provider<Ask>(transport: Self.answer(.stream(pieces)), plugins: [GzipPlugin()])
        let reader = CountingReader()
        let count = reader.returnCount
        #expect(try await reader.read(try await provider.stream(Ask()).body) == json)
        // The pieces themselves never leave it.
        #expect(reader.returnCount - count >= pieces.takenCount)
    }

    // MARK: Downloads

    @Test(
        "A download does not ask for a coding, and is decoded when it comes in one",
        arguments: [("gzip", true), ("foo", false)]
    )
    func download(coding: String, isDecoded: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gzip-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "a", directoryHint: .notDirectory)
        let json = GzipBytes.json(300_000)
        let transport = Self.answer(.stream(Pieces(GzipBytes.gzip(json), of: 16_384)), coding)
        let provider = Provider<Ask>(transport: transport, plugins: [GzipPlugin()])
        let destination = DownloadDestination.file(file, options: .createIntermediateDirectories)
        let response = try await provider.request(Ask(task: .downloadDestination(destination)))
        #expect(try Data(contentsOf: file) == (isDecoded ? json : GzipBytes.gzip(json)))
        #expect(response.body.fileURL == file)
        #expect(response.headers.contains(.contentEncoding) == !isDecoded)
        #expect(transport.sent.first?.headers.contains(.acceptEncoding) == false)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a"])
    }

    @Test("A download that is damaged fails, and leaves no file")
    func damagedDownload() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gzip-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "a", directoryHint: .notDirectory)
        let body = GzipBytes.gzip(GzipBytes.json(300_000)).dropLast()
        let provider = Provider<Ask>(transport: Self.answer(.stream(Pieces(body, of: 16_384))), plugins: [GzipPlugin()])
        let destination = DownloadDestination.file(file, options: .createIntermediateDirectories)
        let error = await #expect(throws: PipelineError.self) {
            try await provider.request(Ask(task: .downloadDestination(destination)))
        }
        #expect(error?.code == .contentCoding(.truncated))
        #expect(((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []) == [])
    }
}

/// Reads on an actor that counts how often work comes to it.
private actor CountingReader {
    private final class Executor: SerialExecutor {
        private let queue = DispatchQueue(label: "reader")
        let count = Atomic(0)

        func enqueue(_ job: consuming ExecutorJob) {
            count.add(1, ordering: .relaxed)
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    private let executor = Executor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    nonisolated var returnCount: Int { executor.count.load(ordering: .relaxed) }

    func read(_ chunks: PipelineBody.Chunks) async throws -> Data {
        var data = Data()
        // A for loop would leave the actor by itself.
        var iterator = chunks.makeAsyncIterator()
        while let piece = try await iterator.next() { data += piece }
        return data
    }
}

/// The head of a gzip bomb, and then its blocks.
private struct Bomb: AsyncSequence, Sendable {
    let pieces: Pieces

    struct AsyncIterator: AsyncIteratorProtocol {
        let blocks: Pieces.Iterator
        var hasBegun = false

        mutating func next() async throws -> Data? {
            if hasBegun { return try await blocks.next() }
            hasBegun = true
            return GzipBytes.bombHead
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(blocks: pieces.makeAsyncIterator()) }
}
