#if AsyncHTTPClient
import Foundation
import PipelineCore
import Synchronization

/// A pipe that reads a body in its own task, one piece ahead, so that the reading can be cancelled.
///
/// AsyncHTTPClient sends bodies in a task that cannot be reached from outside. If a response arrives before the body
/// ends, it abandons that task with everything the task holds.
final class AsyncHTTPClientPipe: Sendable {
    private enum State {
        case idle
        /// A piece, or the end, that has not been requested yet.
        case ready(Result<Data?, any Error>, CheckedContinuation<Void, Never>?)
        case asked(CheckedContinuation<Data?, any Error>)
        case ended
    }

    private struct Guarded {
        var state = State.idle
        var body: PipelineBody?
        var context: PipelineContext?
        var reader: Task<Void, Never>?
        var takenByteCount = 0
    }

    private let guarded: Mutex<Guarded>

    init(_ body: PipelineBody, _ context: PipelineContext) {
        guarded = Mutex(Guarded(body: body, context: context))
    }

    /// Returns the next piece, or `nil` at the end.
    ///
    /// Rethrows errors of the body, and throws `CancellationError` after ``end()``.
    ///
    /// A call confirms that all previous pieces have been taken.
    func next() async throws -> Data? {
        let (context, takenByteCount) = guarded.withLock { ($0.context, $0.takenByteCount) }
        if takenByteCount > 0 { context?.report(.sent(takenByteCount)) }
        startReading()
        let piece = try await receive()
        if let piece { guarded.withLock { $0.takenByteCount += piece.count } }
        return piece
    }

    private func receive() async throws -> Data? {
        try await withCheckedThrowingContinuation { continuation in
            let (result, reader): (Result<Data?, any Error>?, CheckedContinuation<Void, Never>?) = guarded.withLock {
                switch $0.state {
                case .ready(let result, let reader):
                    $0.state = .idle
                    return (result, reader)
                case .ended, .asked:
                    return (.failure(CancellationError()), nil)
                case .idle:
                    $0.state = .asked(continuation)
                    return (nil, nil)
                }
            }
            reader?.resume()
            if let result { continuation.resume(with: result) }
        }
    }

    /// Cancels the reading and releases everything it holds.
    func end() {
        let (state, reader) = guarded.withLock { guarded in
            defer { guarded = Guarded(state: .ended) }
            return (guarded.state, guarded.reader)
        }
        reader?.cancel()
        switch state {
        case .ready(_, let waiting): waiting?.resume()
        case .asked(let continuation): continuation.resume(throwing: CancellationError())
        case .idle, .ended: break
        }
    }

    private func startReading() {
        guarded.withLock { guarded in
            guard let body = guarded.body.take() else { return }
            guarded.reader = Task { [weak self] in
                do {
                    for try await chunk in body.chunks() {
                        var rest = chunk
                        while !rest.isEmpty {
                            let piece = rest.prefix(AsyncHTTPClientUpload.pieceByteCount)
                            rest = rest.dropFirst(piece.count)
                            guard let self, await self.hand(.success(piece)) else { return }
                        }
                    }
                    // A stream may end early because its reader is cancelled; the bytes read by then are not the whole
                    // body.
                    try Task.checkCancellation()
                    _ = await self?.hand(.success(nil))
                } catch {
                    _ = await self?.hand(.failure(error))
                }
            }
        }
    }

    /// Hands over a piece and waits until it is taken.
    ///
    /// Returns `false` if no more pieces are wanted.
    private func hand(_ result: Result<Data?, any Error>) async -> Bool {
        await withCheckedContinuation { (taken: CheckedContinuation<Void, Never>) in
            let asking: CheckedContinuation<Data?, any Error>?
            let isWaiting: Bool
            (asking, isWaiting) = guarded.withLock {
                switch $0.state {
                case .asked(let continuation):
                    $0.state = .idle
                    return (continuation, false)
                case .idle:
                    $0.state = .ready(result, taken)
                    return (nil, true)
                case .ready, .ended:
                    return (nil, false)
                }
            }
            asking?.resume(with: result)
            if !isWaiting { taken.resume() }
        }
        return guarded.withLock { if case .ended = $0.state { false } else { true } }
    }
}
#endif
