import Pipeline
import Synchronization

/// How a call waits for a store.
struct StoreOperation: Sendable {
    /// How long the call waits.
    let limit: Duration
    /// Whether the wait ends when the call is cancelled.
    var isCancellable = true
    /// Whether the operation counts towards the maximum number.
    var isCounted = true
    /// Whether the wait is a span of the timeline; pieces of a body are too many.
    var isRecorded = true

    static let lookup = Self(limit: .milliseconds(100))
    /// Reads a piece of a body, which has one read at a time; a refused one could end its call.
    static let read = Self(limit: .seconds(1), isCounted: false, isRecorded: false)
    static let append = Self(limit: .seconds(1), isRecorded: false)
    /// Appends a piece of a body that is worth keeping when the call is cancelled.
    static let keep = Self(limit: .seconds(1), isCancellable: false, isRecorded: false)
    static let finish = Self(limit: .seconds(1), isCancellable: false)
}

/// The work of stores that calls wait for, at most 64 at a time.
///
/// A call leaves when its time is over or when it is cancelled, even if the store does not respond to cancellation. The
/// work then ends on its own.
final class StoreWork: Sendable {
    private static let maximumCount = 64
    private let count = Mutex(0)

    /// Returns the result of work that runs in a task of its own.
    ///
    /// Throws the error of the work, `cacheUnavailable` if the time is over or if too much is in progress, and, if the
    /// wait is cancellable, `CancellationError`.
    func run<Output: Sendable>(
        _ operation: StoreOperation,
        on clock: PipelineClock,
        _ work: @escaping @Sendable () async throws -> Output?
    ) async throws -> Output? {
        let isCounted = operation.isCounted
        guard !isCounted || begin() else {
            throw PipelineError(.cacheUnavailable, "the cache has 64 operations in progress")
        }
        let deadline = clock.now.advanced(by: operation.limit)
        let wait = Wait<Output>()
        let task = Self.startAtOnce { [self] in
            let result: Result<Output?, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            if isCounted { count.withLock { $0 -= 1 } }
            wait.end(result)
        }
        if let result = wait.result { return try result.get() }
        let timer = Self.startAtOnce {
            do { try await clock.sleep(until: deadline) } catch { return }
            let text = "the cache did not respond within \(PipelineError.text(of: operation.limit))"
            if wait.end(.failure(PipelineError(.cacheUnavailable, text))) { task.cancel() }
        }
        defer { timer.cancel() }
        guard operation.isCancellable else { return try await wait.value() }
        return try await withTaskCancellationHandler {
            try await wait.value()
        } onCancel: {
            if wait.end(.failure(CancellationError())) { task.cancel() }
        }
    }

    private func begin() -> Bool {
        count.withLock { count in
            guard count < Self.maximumCount else { return false }
            count += 1
            return true
        }
    }

    /// Starts a task on the thread of its caller, if the system can, so that short work needs no other thread.
    private static func startAtOnce(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            return Task.immediate { await work() }
        }
        return Task { await work() }
    }

    /// One caller that waits for one result.
    private final class Wait<Output: Sendable>: Sendable {
        private struct State {
            var result: Result<Output?, any Error>?
            var continuation: CheckedContinuation<Output?, any Error>?
        }

        private let state = Mutex(State())

        var result: Result<Output?, any Error>? { state.withLock { $0.result } }

        func value() async throws -> Output? {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state in
                    if state.result == nil { state.continuation = continuation }
                    return state.result
                }
                if let result { continuation.resume(with: result) }
            }
        }

        /// Ends the wait; returns whether it had not ended before.
        @discardableResult
        func end(_ result: Result<Output?, any Error>) -> Bool {
            let (isFirst, continuation) = state.withLock { state in
                guard state.result == nil else { return (false, CheckedContinuation<Output?, any Error>?.none) }
                state.result = result
                return (true, state.continuation.take())
            }
            continuation?.resume(with: result)
            return isFirst
        }
    }
}
