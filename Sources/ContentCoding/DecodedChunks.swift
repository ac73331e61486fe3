import Foundation
import Pipeline
import Synchronization

/// The pieces of a coded body, decoded as they are asked for.
struct DecodedChunks: AsyncSequence, Sendable {
    typealias Element = Data

    let body: PipelineBody
    let plan: DecodingPlan

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(upstream: body.chunks().makeAsyncIterator(), decoding: Decoding(plan))
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        /// `nil` after the end and after a failure, which so closes the exchange.
        private var upstream: PipelineBody.Chunks.AsyncIterator?
        private let decoding: Decoding
        private var hasMore = false

        init(upstream: PipelineBody.Chunks.AsyncIterator, decoding: Decoding) {
            self.upstream = upstream
            self.decoding = decoding
        }

        mutating func next() async throws -> Data? {
            do {
                var piece = hasMore ? try await decoding.next() : nil
                while piece == nil, upstream != nil {
                    let chunk = try await upstream?.next()
                    // A stream that a cancellation has ended looks like one that has ended.
                    try Task.checkCancellation()
                    if chunk == nil { upstream = nil }
                    piece = try await decoding.next(after: chunk)
                }
                hasMore = piece?.count == Decoding.pieceByteCount
                return piece
            } catch {
                upstream = nil
                decoding.end()
                throw error
            }
        }
    }

    /// A chain that is at work away from the reader's actor.
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

        /// The next piece of what has arrived, `nil` when more has to.
        @concurrent
        func next() async throws -> Data? {
            try read { _ in }
        }

        /// The next piece after this one has arrived, or nothing more will.
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
