#if AsyncHTTPClient
import Foundation
import Pipeline
import Synchronization

/// Reads a streamed body in a task of its own, one piece ahead, so that the reading can be cancelled: AsyncHTTPClient sends bodies in
/// a task that nobody else can reach.
final class AsyncHTTPClientPipe: Sendable {
    private enum State {
        case idle
        /// A piece, or the end, that nobody has asked for yet.
        case ready(Result<Data?, any Error>, CheckedContinuation<Void, Never>?)
        case asked(CheckedContinuation<Data?, any Error>)
        case ended
    }

    private struct Guarded {
        var state = State.idle
        var reader: Task<Void, Never>?
    }

    private let body: PipelineBody
    private let guarded = Mutex(Guarded())

    init(_ body: PipelineBody) { self.body = body }

    /// The next piece, `nil` at the end; throws what the body throws, and `CancellationError` after ``end()``.
    func next() async throws -> Data? {
        startReading()
        return try await withCheckedThrowingContinuation { continuation in
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

    /// Cancels the reading.
    func end() {
        let (state, reader) = guarded.withLock { guarded in
            defer { (guarded.state, guarded.reader) = (.ended, nil) }
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
            if case .ended = guarded.state { return }
            guard guarded.reader == nil else { return }
            guarded.reader = Task { [weak self, body] in
                do {
                    for try await chunk in body.chunks() where !chunk.isEmpty {
                        guard let self, await self.hand(.success(chunk)) else { return }
                    }
                    // A stream may end because its reader is cancelled; what has come by then is no body.
                    try Task.checkCancellation()
                    _ = await self?.hand(.success(nil))
                } catch {
                    _ = await self?.hand(.failure(error))
                }
            }
        }
    }

    /// Hands a piece over, and waits until it is taken; `false` when nobody wants more.
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
