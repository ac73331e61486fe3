import Dispatch
import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// A reader on an actor that counts how often work is enqueued on it.
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
        // A `for` loop would leave the actor on its own.
        var iterator = chunks.makeAsyncIterator()
        while let piece = try await iterator.next() { data += piece }
        return data
    }
}

@Suite("GzipPlugin: streams", .tags(.concurrent), .watched)
struct DecodedChunksTests {
    private let text = GzipDecodingTests.text

    private static let free = GzipPlugin.Limits(ratio: 1_000_000)

    @Test("A stream is decoded as it is read, before the rest of it has arrived")
    func asRead() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        let json = GzipBytes.json(300_000)
        let body = GzipBytes.gzip(json)
        let provider = Provider<Ask>(transport: GzipPluginLimitsTests.answer(.stream(stream)), plugins: [GzipPlugin()])
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

    @Test("Fifty megabytes arrive in pieces of at most 64 KiB, and no more is read than was asked for")
    func pieces() async throws {
        let block = GzipBytes.bombBlock
        let pieces = Pieces(block, of: block.count, isEndless: true)
        let body = PipelineBody.stream(Bomb(pieces: pieces))
        let plugin = GzipPlugin(limits: Self.free)
        let provider = Provider<Ask>(transport: GzipPluginLimitsTests.answer(body), plugins: [plugin])
        var iterator = try await provider.stream(Ask()).body.makeAsyncIterator()
        var count = 0
        while count < 50 << 20 {
            let piece = try #require(try await iterator.next())
            #expect(piece.count <= 65_536)
            count += piece.count
            #expect(pieces.takenCount <= (count >> 20) + 2)
        }
    }

    @Test("A reader that stops early closes the exchange")
    func stops() async throws {
        let pieces = Pieces(GzipBytes.gzip(GzipBytes.noise(1 << 20)), of: 16_384)
        let provider = Provider<Ask>(transport: GzipPluginLimitsTests.answer(.stream(pieces)), plugins: [GzipPlugin()])
        for try await _ in try await provider.stream(Ask()).body { break }
        #expect(pieces.takenCount < 10)
        #expect(pieces.isLetGo)
    }

    @Test("A decoded stream can be read only once, like the underlying stream")
    func once() async throws {
        let pieces = Pieces(GzipBytes.gzip(text), of: 7)
        let provider = Provider<Ask>(transport: GzipPluginLimitsTests.answer(.stream(pieces)), plugins: [GzipPlugin()])
        let body = try await provider.stream(Ask()).response.body
        #expect(!body.isReplayable)
        #expect(try await body.collect(upTo: 1_000) == text)
        let error = await #expect(throws: PipelineError.self) { try await body.collect(upTo: 1_000) }
        #expect(error?.code == .bodyConsumed)
    }

    @Test("A cancelled reader throws CancellationError instead of ending as if the body were complete")
    func cancelled() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        continuation.yield(GzipBytes.gzip(text).dropLast(8))
        let provider = Provider<Ask>(transport: GzipPluginLimitsTests.answer(.stream(stream)), plugins: [GzipPlugin()])
        let (read, hasRead) = AsyncStream.makeStream(of: Data.self)
        let reader = Task {
            for try await piece in try await provider.stream(Ask()).body { hasRead.yield(piece) }
        }
        for await _ in read { break }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        continuation.finish()
    }

    @Test("An error of the underlying stream is thrown")
    func failing() async throws {
        let body = GzipBytes.gzip(text)
        let stream = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(body.prefix(30))
            continuation.finish(throwing: PipelineError(.connectionLost, "by script"))
        }
        let provider = Provider<Ask>(transport: GzipPluginLimitsTests.answer(.stream(stream)), plugins: [GzipPlugin()])
        let error = await #expect(throws: PipelineError.self) {
            for try await _ in try await provider.stream(Ask()).body {}
        }
        #expect(error?.code == .connectionLost)
    }

    @Test("A stream is decoded off the reader's actor, which resumes for each piece")
    func awayFromActor() async throws {
        let json = GzipBytes.json(500_000)
        let pieces = Pieces(GzipBytes.gzip(json), of: 1_024)
        let provider = Provider<Ask>(transport: GzipPluginLimitsTests.answer(.stream(pieces)), plugins: [GzipPlugin()])
        let reader = CountingReader()
        let count = reader.returnCount
        #expect(try await reader.read(try await provider.stream(Ask()).body) == json)
        // Reading the underlying stream never leaves the actor.
        #expect(reader.returnCount - count >= pieces.takenCount)
    }
}
