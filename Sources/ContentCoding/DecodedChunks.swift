import Foundation
import PipelineCore
import Synchronization

/// The chunks of an encoded body, decoded on demand.
struct DecodedChunks: AsyncSequence, Sendable {
    typealias Element = Data

    let body: PipelineBody
    let plan: DecodingPlan
    let onFailure: @Sendable (any Error) async -> Void

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(upstream: body.chunks().makeAsyncIterator(), decoding: Decoding(plan), onFailure)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        /// Set to `nil` at the end and after a failure, which closes the exchange.
        private var upstream: PipelineBody.Chunks.AsyncIterator?
        private let decoding: Decoding
        private let onFailure: @Sendable (any Error) async -> Void
        private var hasMore = false

        init(
            upstream: PipelineBody.Chunks.AsyncIterator,
            decoding: Decoding,
            _ onFailure: @escaping @Sendable (any Error) async -> Void
        ) {
            self.upstream = upstream
            self.decoding = decoding
            self.onFailure = onFailure
        }

        mutating func next() async throws -> Data? {
            do {
                var piece = hasMore ? try await decoding.next() : nil
                while piece == nil, upstream != nil {
                    let chunk = try await upstream?.next()
                    // A stream that was ended by a cancellation looks like a complete one.
                    try Task.checkCancellation()
                    if chunk == nil { upstream = nil }
                    piece = try await decoding.next(after: chunk)
                }
                hasMore = piece?.count == Decoding.pieceByteCount
                return piece
            } catch {
                upstream = nil
                decoding.end()
                await onFailure(error)
                throw error
            }
        }
    }

    /// A decoder chain that works off the reader's actor.
    final class Decoding: Sendable {
        private struct State: ~Copyable {
            var chain: DecoderChain
            var scratch = ByteBuffer(capacity: Decoding.pieceByteCount)
            var isEnded = false
        }

        private let state: Mutex<State>

        init(_ plan: DecodingPlan) {
            state = Mutex(State(chain: DecoderChain(plan, byteLimit: .max)))
        }

        /// Returns the next piece of the bytes that have arrived; `nil` if more bytes must arrive first.
        @concurrent
        func next() async throws -> Data? {
            try read { _ in }
        }

        /// Returns the next piece after a chunk has arrived, or after the end of the body if the chunk is `nil`.
        @concurrent
        func next(after chunk: Data?) async throws -> Data? {
            try read { chain in
                if let chunk { chain.feed(chunk) } else { chain.feedEnd() }
            }
        }

        func end() {
            state.withLock { $0.isEnded = true }
        }

        private func read(_ feed: (inout DecoderChain) -> Void) throws -> Data? {
            try state.withLock { state in
                guard !state.isEnded else { return nil }
                feed(&state.chain)
                while state.scratch.count < Self.pieceByteCount {
                    let room = state.scratch.room(upTo: Self.pieceByteCount - state.scratch.count)
                    let count = try state.chain.read(into: room)
                    if count == 0 { break }
                    state.scratch.count += count
                }
                return state.scratch.count > 0 ? state.scratch.takePiece() : nil
            }
        }

        static let pieceByteCount = 64 << 10
    }
}
