import PipelinePlugins
import Synchronization

/// Runs asynchronous work one at a time, in the tasks of its callers.
final class OAuthLane: Sendable {
    /// Those that wait for their turn, in order; `nil` if no work runs.
    private let waiters = Mutex<[TokenWaiter<Bool>]?>(nil)

    /// Runs work after that of earlier callers.
    ///
    /// - Parameters:
    ///   - mustRun: whether the work runs even if its task is cancelled before its turn.
    ///   - work: the work.
    /// - Returns: the result of the work.
    /// - Throws: `CancellationError` if the task is cancelled before its turn; the errors of the work.
    func run<Value: Sendable>(mustRun: Bool = false, _ work: () async throws -> Value) async throws -> Value {
        if let waiter = enter() {
            let isTurn = await waiter.value { if !mustRun { cancel(waiter) } }
            guard isTurn else { throw CancellationError() }
        }
        defer { leave() }
        return try await work()
    }

    /// Returns what to wait for; `nil` if it is the caller's turn.
    private func enter() -> TokenWaiter<Bool>? {
        waiters.withLock { waiters in
            guard waiters != nil else {
                waiters = []
                return nil
            }
            let waiter = TokenWaiter<Bool>()
            waiters?.append(waiter)
            return waiter
        }
    }

    private func cancel(_ waiter: TokenWaiter<Bool>) {
        let isWaiting = waiters.withLock { waiters in
            guard let index = waiters?.firstIndex(where: { $0 === waiter }) else { return false }
            waiters?.remove(at: index)
            return true
        }
        if isWaiting { waiter.fill(false) }
    }

    private func leave() {
        let next = waiters.withLock { waiters -> TokenWaiter<Bool>? in
            guard let first = waiters?.first else {
                waiters = nil
                return nil
            }
            waiters?.removeFirst()
            return first
        }
        next?.fill(true)
    }
}
