import Foundation
import Pipeline
import PipelineStores

/// The bytes of a stored body, read in pieces on demand.
struct StoredChunks: AsyncSequence, Sendable {
    typealias Element = Data

    private static let pieceByteCount = 65_536

    private let reader: any CacheBodyReader
    private let range: Range<Int>
    private let entry: CacheEntry
    private let plugin: CachePlugin
    private let context: PipelineContext

    /// Returns a range of a stored body as a body of a response.
    static func body(
        _ reader: any CacheBodyReader,
        _ range: Range<Int>,
        of entry: CacheEntry,
        in plugin: CachePlugin,
        _ context: PipelineContext
    ) -> PipelineBody {
        if let bytes = reader.bytes, range.upperBound <= bytes.count {
            if range.count == bytes.count { return .bytes(bytes) }
            return .bytes(Data(bytes.dropFirst(range.lowerBound).prefix(range.count)))
        }
        let chunks = StoredChunks(reader: reader, range: range, entry: entry, plugin: plugin, context: context)
        return .stream(byteCount: range.count, replaying: { chunks })
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: self, offset: range.lowerBound) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let chunks: StoredChunks
        var offset: Int

        mutating func next() async throws -> Data? {
            let count = Swift.min(StoredChunks.pieceByteCount, chunks.range.upperBound - offset)
            guard count > 0 else { return nil }
            let (plugin, context, offset) = (chunks.plugin, chunks.context, offset)
            let bytes = await plugin.limited(context, to: CachePlugin.writeLimit, isCounted: false) {
                [reader = chunks.reader] in
                try await reader.read(at: offset, upTo: count)
            }
            if let bytes, !bytes.isEmpty {
                self.offset += bytes.count
                return bytes
            }
            if Task.isCancelled { throw CancellationError() }
            _ = await plugin.limited(context, to: CachePlugin.writeLimit) { [entry = chunks.entry] in
                try await plugin.store.remove(entry)
            }
            throw PipelineError(.unreadableCache, "the stored body cannot be read")
        }
    }
}

/// The bytes of one body, followed by those of another.
struct JoinedChunks: AsyncSequence, Sendable {
    typealias Element = Data

    let first: PipelineBody
    let second: PipelineBody
    /// The number of bytes that the second body must not exceed.
    let secondByteCount: Int

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(iterator: first.chunks().makeAsyncIterator(), second: second, rest: secondByteCount)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        var iterator: PipelineBody.Chunks.AsyncIterator
        var second: PipelineBody?
        var rest: Int

        mutating func next() async throws -> Data? {
            if second != nil {
                if let chunk = try await iterator.next() { return chunk }
                guard let body = second.take() else { return nil }
                iterator = body.chunks().makeAsyncIterator()
            }
            guard let chunk = try await iterator.next() else { return nil }
            guard chunk.count <= rest else {
                throw PipelineError(.malformedResponse, "the body is longer than its Content-Range")
            }
            rest -= chunk.count
            return chunk
        }
    }
}
