import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("GzipPlugin: streamed requests", .watched)
struct CompressedChunksTests: GzipSending {
    let transport = ScriptedTransport(always: .status(200))
    private let json = GzipBytes.json(20_000)

    @Test("A stream of unknown length is compressed while it is sent")
    func stream() async throws {
        let pieces = Pieces(json, of: 1_000)
        let request = try await sent(.requestStream(.stream(pieces)), headers: ["Content-Type": "text/plain"])
        #expect(request.body.bytes == nil && request.body.fileURL == nil && request.body.byteCount == nil)
        #expect(!request.body.isReplayable)
        #expect(pieces.takenCount == 0)
        #expect(GzipBytes.gunzip(try await coded(request)) == json)
    }

    @Test("Large streams are sent in pieces, and are not held back until their end")
    func streamInPieces() async throws {
        let pieces = Pieces(GzipBytes.noise(1 << 20), of: 16_384)
        let request = try await sent(.requestStream(.stream(pieces)), headers: ["Content-Type": "text/plain"])
        var iterator = request.body.chunks().makeAsyncIterator()
        let first = try #require(try await iterator.next())
        #expect(pieces.takenCount < 8)
        var whole = first
        while let piece = try await iterator.next() {
            #expect((1...65_536).contains(piece.count))
            whole += piece
        }
        #expect(GzipBytes.gunzip(whole) == GzipBytes.noise(1 << 20))
    }

    @Test("Bytes that zlib has not flushed yet wait until more of the stream arrives")
    func waits() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        let request = try await sent(.requestStream(.stream(stream)), headers: ["Content-Type": "text/plain"])
        continuation.yield(json.prefix(1_000))
        var iterator = request.body.chunks().makeAsyncIterator()
        var coded = try #require(try await iterator.next())
        #expect(coded.count == 10)
        continuation.yield(json.dropFirst(1_000))
        continuation.finish()
        while let piece = try await iterator.next() { coded += piece }
        #expect(GzipBytes.gunzip(coded) == json)
    }

    @Test("A replayable stream stays replayable")
    func replayable() async throws {
        let json = json
        let body = PipelineBody.stream { Pieces(json, of: 777) }
        let request = try await sent(.requestStream(body), headers: ["Content-Type": "text/plain"])
        #expect(request.body.isReplayable)
        let first = try await coded(request)
        #expect(GzipBytes.gunzip(first) == json)
        #expect(try await coded(request) == first)
    }

    @Test("A stream whose length differs from the announced length fails with bodyChanged", arguments: [-1, 1])
    func streamLength(difference: Int) async throws {
        let stream = PipelineBody.stream(Pieces(json, of: 999), byteCount: json.count + difference)
        let request = try await sent(.requestStream(stream), headers: ["Content-Type": "text/plain"])
        let error = await #expect(throws: PipelineError.self) { try await coded(request) }
        #expect(error?.code == .bodyChanged)
    }
}
