import Foundation

/// Reads the pieces of a body off its caller's actor.
protocol ChunkReader: Actor {
    func next() async throws -> Data?
}

/// The pieces of a body; each iterator reads them with an actor of its own.
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
    /// Returns the same body, read by an actor; replayable if this one is.
    func read(by makeReader: @escaping @Sendable () -> any ChunkReader) -> PipelineBody {
        let chunks = ReadChunks(makeReader: makeReader)
        return isReplayable ? .stream(byteCount: byteCount) { chunks } : .stream(chunks, byteCount: byteCount)
    }
}
