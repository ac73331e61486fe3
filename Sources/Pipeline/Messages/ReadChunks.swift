import Foundation

/// Reads the pieces of a body away from its caller's actor.
protocol ChunkReader: Actor {
    func next() async throws -> Data?
}

/// The pieces of a body, read by an actor of each iterator's own.
struct ReadChunks: AsyncSequence, Sendable {
    let makeReader: @Sendable () -> any ChunkReader

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: makeReader())
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reader: any ChunkReader

        mutating func next() async throws -> Data? {
            try await reader.next()
        }
    }
}

extension PipelineBody {
    /// The same body as an actor reads it; replayable if this is.
    func read(by makeReader: @escaping @Sendable () -> any ChunkReader) -> PipelineBody {
        let chunks = ReadChunks(makeReader: makeReader)
        return isReplayable ? .stream(byteCount: byteCount) { chunks } : .stream(chunks, byteCount: byteCount)
    }
}
