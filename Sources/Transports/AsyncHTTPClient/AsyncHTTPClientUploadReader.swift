#if AsyncHTTPClient
import Foundation
import PipelineCore
import Synchronization

/// A reader of a request's body that can be cancelled, because it reads each piece in a task of its own.
///
/// AsyncHTTPClient sends bodies in a task that cannot be reached from outside. If a response arrives before the body
/// ends, it abandons that task with everything the task holds.
final class AsyncHTTPClientUploadReader: Sendable {
    private struct State {
        /// `nil` once the reading has ended.
        var source: Source?
        var context: PipelineContext?
        var reading: Task<Data?, any Error>?
        var takenByteCount = 0
    }

    private let state: Mutex<State>

    init(_ body: PipelineBody, _ context: PipelineContext) {
        state = Mutex(State(source: Source(body), context: context))
    }

    /// Returns the next piece, or `nil` at the end.
    ///
    /// Rethrows errors of the body, and throws `CancellationError` after ``end()``.
    ///
    /// A call confirms that all previous pieces have been taken.
    func next() async throws -> Data? {
        let (reading, context, takenByteCount) = state.withLock { state in
            state.reading = state.source.map { source in Task { try await source.next() } }
            return (state.reading, state.context, state.takenByteCount)
        }
        if takenByteCount > 0 { context?.report(.sent(takenByteCount)) }
        guard let reading else { throw CancellationError() }
        let piece = try await reading.value
        if let piece { state.withLock { $0.takenByteCount += piece.count } }
        return piece
    }

    /// Cancels the reading and releases everything it holds.
    func end() {
        let reading = state.withLock { state in
            defer { state = State() }
            return state.reading
        }
        reading?.cancel()
    }

    private actor Source {
        private let body: PipelineBody
        private var chunks: PipelineBody.Chunks.AsyncIterator?
        private var rest = Data()

        init(_ body: PipelineBody) { self.body = body }

        func next() async throws -> Data? {
            var iterator = chunks ?? body.chunks().makeAsyncIterator()
            while rest.isEmpty {
                guard let chunk = try await iterator.next() else {
                    // A stream may end early because its reader is cancelled; the bytes read by then are not the whole
                    // body.
                    try Task.checkCancellation()
                    return nil
                }
                rest = chunk
            }
            chunks = iterator
            let piece = rest.prefix(AsyncHTTPClientUpload.pieceByteCount)
            // An empty slice would keep the memory of its chunk.
            rest = piece.count < rest.count ? rest.dropFirst(piece.count) : Data()
            return piece
        }
    }
}
#endif
