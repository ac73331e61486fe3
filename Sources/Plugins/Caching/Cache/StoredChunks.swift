import Foundation
import PipelineCore

/// The bytes of a stored body, read in pieces on demand.
struct StoredChunks: AsyncSequence, Sendable {
    typealias Element = Data

    private static let pieceByteCount = 65_536

    let reader: any CacheBodyReader
    /// The positions in the stored bytes.
    let range: Range<Int>
    let entry: CacheEntry
    let plugin: CachePlugin
    let context: PipelineContext
    /// The bytes that were read before the response was returned.
    var first = Data()

    /// Returns the bytes as a body of a response; `nil` if they cannot be read.
    ///
    /// If the call needs the body in memory, all of it is read; otherwise the first piece. After that, a failure of the
    /// store ends the call.
    func body() async -> PipelineBody? {
        // A longer body is a stream, so that a streamed call can read it.
        let isShort = range.count <= context.limits.bufferedBodyByteCount
        if isShort, let bytes = reader.bytes, range.upperBound <= bytes.count {
            if range.count == bytes.count { return .bytes(bytes) }
            return .bytes(Data(bytes.dropFirst(range.lowerBound).prefix(range.count)))
        }
        var chunks = self
        let start = context.clock.now
        repeat {
            // A store that is slower than 8 MiB/s would make the call time out.
            let allowance = StoreOperation.pieceLimit + .seconds(1) * Double(chunks.first.count >> 10) / 8_192
            if start.duration(to: context.clock.now) > allowance { return nil }
            guard let piece = await chunks.piece(at: range.lowerBound + chunks.first.count) else { return nil }
            chunks.first += piece
        } while isShort && !context.wantsStream && chunks.first.count < range.count
        if isShort, chunks.first.count == range.count { return .bytes(chunks.first) }
        return .stream(byteCount: range.count, replaying: { [chunks] in chunks })
    }

    /// Reads a piece; if that fails, removes the entry and returns `nil`.
    private func piece(at offset: Int) async -> Data? {
        let count = Swift.min(Self.pieceByteCount, range.upperBound - offset)
        guard count > 0 else { return Data() }
        let bytes = await plugin.limited(context, .read) { [reader] in try await reader.read(at: offset, upTo: count) }
        if let bytes, !bytes.isEmpty { return bytes }
        if Task.isCancelled { return nil }
        _ = await plugin.limited(context, .finish) { [entry, plugin] in try await plugin.store.remove(entry) }
        return nil
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: self, offset: range.lowerBound) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let chunks: StoredChunks
        var offset: Int

        mutating func next() async throws -> Data? {
            guard offset < chunks.range.upperBound else { return nil }
            if offset == chunks.range.lowerBound {
                offset += chunks.first.count
                return chunks.first
            }
            guard let piece = await chunks.piece(at: offset) else {
                try Task.checkCancellation()
                throw PipelineError(.unreadableCache, "the stored body cannot be read")
            }
            offset += piece.count
            return piece
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
