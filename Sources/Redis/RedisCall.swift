#if Redis
import Synchronization

/// A request on its way to Redis and the task that waits for its replies.
final class RedisCall: Sendable {
    private struct State {
        var continuation: CheckedContinuation<[RedisReply], any Error>?
        var isCancelled = false
        var isFinished = false
    }

    let request: RedisRequest
    let deadline: ContinuousClock.Instant
    private let survivesCancellation: Bool
    private let state = Mutex(State())

    /// Creates a call; `survivesCancellation` means that it is sent even if its task is cancelled before that.
    init(_ request: RedisRequest, before deadline: ContinuousClock.Instant, survivesCancellation: Bool) {
        self.request = request
        self.deadline = deadline
        self.survivesCancellation = survivesCancellation
    }

    /// Whether the request does not have to be sent any more.
    var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Sets the continuation, which is resumed at once if the task has been cancelled.
    func resumeLater(_ continuation: CheckedContinuation<[RedisReply], any Error>) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.continuation = continuation }
            return state.isCancelled
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
    }

    func cancel() {
        let continuation = state.withLock { state in
            state.isCancelled = true
            if !survivesCancellation { state.isFinished = true }
            return state.continuation.take()
        }
        continuation?.resume(throwing: CancellationError())
    }

    /// Ends the call; does nothing and returns `false` if it has ended before.
    @discardableResult
    func finish(_ result: Result<[RedisReply], RedisError>) -> Bool {
        let (isFirst, continuation) = state.withLock { state in
            defer { state.isFinished = true }
            return (!state.isFinished, state.continuation.take())
        }
        continuation?.resume(with: result.mapError { $0 })
        return isFirst
    }
}
#endif
