import Foundation
import PipelineCore

/// The chunks of an encoded body, decoded on demand.
struct DecodedChunks: AsyncSequence, Sendable {
    let body: PipelineBody
    let plan: DecodingPlan
    let onFailure: @Sendable (any Error) async -> Void

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: DecodingReader(body, plan, onFailure))
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reader: DecodingReader

        mutating func next() async throws -> Data? { try await reader.next() }
    }
}

/// Reads and decodes a body off its reader's actor.
private actor DecodingReader {
    private static let pieceByteCount = 64 << 10

    /// Set to `nil` at the end and after a failure, which closes the exchange.
    private var upstream: PipelineBody.Chunks.AsyncIterator?
    private let onFailure: @Sendable (any Error) async -> Void
    private var chain: DecoderChain
    private var scratch = ByteBuffer(capacity: pieceByteCount)
    private var hasMore = false

    init(_ body: PipelineBody, _ plan: DecodingPlan, _ onFailure: @escaping @Sendable (any Error) async -> Void) {
        upstream = body.chunks().makeAsyncIterator()
        self.onFailure = onFailure
        chain = DecoderChain(plan, byteLimit: .max)
    }

    func next() async throws -> Data? {
        do {
            var piece = hasMore ? try decode() : nil
            while piece == nil, var iterator = upstream {
                let chunk = try await iterator.next()
                // A stream that was ended by a cancellation looks like a complete one.
                try Task.checkCancellation()
                upstream = chunk == nil ? nil : iterator
                if let chunk { chain.feed(chunk) } else { chain.feedEnd() }
                piece = try decode()
            }
            hasMore = piece?.count == Self.pieceByteCount
            return piece
        } catch {
            upstream = nil
            hasMore = false
            await onFailure(error)
            throw error
        }
    }

    /// Returns the next piece of the bytes that have arrived; `nil` if more bytes must arrive first.
    private func decode() throws -> Data? {
        while scratch.count < Self.pieceByteCount {
            let count = try chain.read(into: scratch.room(upTo: Self.pieceByteCount - scratch.count))
            if count == 0 { break }
            scratch.count += count
        }
        return scratch.count > 0 ? scratch.takePiece() : nil
    }
}
