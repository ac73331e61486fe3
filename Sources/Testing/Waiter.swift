import Synchronization

/// Says what a test waited for in vain.
///
/// ``ManualClock/waitForSleepers(_:)``, ``ScriptedTransport/waitForRequests(_:)`` and
/// ``LoopbackServer/wait(until:)`` throw it after two minutes of real time, so that a test does not wait forever.
public struct WaitTimeout: Error, CustomStringConvertible {
    /// One sentence: what did not happen, and what did.
    public let description: String
}

/// One wait of a test, which ends once: by what it waits for, by cancellation, or after two minutes with an error.
final class Waiter: Sendable {
    private struct State {
        var result: Result<Void, any Error>?
        var continuation: CheckedContinuation<Void, any Error>?
    }

    private let state = Mutex(State())
    private let pauseCount: Int

    /// - Parameter pauseCount: the number of pauses of 100 ms after which the wait fails.
    ///
    /// A busy machine makes each pause longer.
    init(pauseCount: Int = 1_200) {
        self.pauseCount = pauseCount
    }

    /// Ends the wait unless it has ended.
    func end(_ result: Result<Void, any Error> = .success(())) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard state.result == nil else { return nil }
            state.result = result
            return state.continuation.take()
        }
        continuation?.resume(with: result)
    }

    /// - Parameter sentence: what did not happen, and what did.
    /// - Throws: how the wait ended, if not by what it waits for.
    func wait(_ sentence: @escaping @Sendable () -> String) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [pauseCount] in
                for _ in 0..<pauseCount { try await ContinuousClock().sleep(for: .milliseconds(100)) }
                self.end(.failure(WaitTimeout(description: sentence())))
            }
            defer { group.cancelAll() }
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { begin($0) }
            } onCancel: {
                end(.failure(CancellationError()))
            }
        }
    }

    private func begin(_ continuation: CheckedContinuation<Void, any Error>) {
        let result = state.withLock { state in
            if state.result == nil { state.continuation = continuation }
            return state.result
        }
        if let result { continuation.resume(with: result) }
    }
}
