import Synchronization

/// The work of stores that calls wait for, at most 64 at a time.
///
/// A call leaves when its time is over or when it is cancelled, even if the store does not respond to cancellation. The
/// work then ends on its own.
final class StoreWork: Sendable {
    private static let maximumCount = 64
    private let count = Mutex(0)

    /// Runs work in a task of its own, and returns how to wait for it; `nil` if too much is in progress.
    func start<Output: Sendable>(_ work: @escaping @Sendable () async throws -> Output?) -> Wait<Output>? {
        let isRefused = count.withLock { count in
            guard count < Self.maximumCount else { return true }
            count += 1
            return false
        }
        if isRefused { return nil }
        let wait = Wait<Output>()
        let task = Task {
            let result: Result<Output?, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            count.withLock { $0 -= 1 }
            wait.end(result)
        }
        wait.cancel = { task.cancel() }
        return wait
    }

    /// One caller that waits for one result.
    final class Wait<Output: Sendable>: Sendable {
        private struct State {
            var result: Result<Output?, any Error>?
            var continuation: CheckedContinuation<Output?, any Error>?
            var cancel: (@Sendable () -> Void)?
        }

        private let state = Mutex(State())

        /// Asks the work to end.
        var cancel: (@Sendable () -> Void)? {
            get { state.withLock { $0.cancel } }
            set { state.withLock { $0.cancel = newValue } }
        }

        /// Returns the result; throws `CancellationError` as soon as the task is cancelled.
        func value() async throws -> Output? {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let result = state.withLock { state in
                        if state.result == nil { state.continuation = continuation }
                        return state.result
                    }
                    if let result { continuation.resume(with: result) }
                }
            } onCancel: {
                end(.failure(CancellationError()))
                cancel?()
            }
        }

        func end(_ result: Result<Output?, any Error>) {
            let continuation = state.withLock { state in
                guard state.result == nil else { return CheckedContinuation<Output?, any Error>?.none }
                state.result = result
                return state.continuation.take()
            }
            continuation?.resume(with: result)
        }
    }
}
