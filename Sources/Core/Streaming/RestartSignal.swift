import Synchronization

/// Interrupts the work that the readings of a subscription wait for.
final class RestartSignal: Sendable {
    /// Thrown by work that a restart has interrupted.
    struct Restarted: Error {}

    private struct State {
        var count = 0
        var nextID = 0
        var waiting: [Int: AsyncStream<Never>.Continuation] = [:]
    }

    private let state = Mutex(State())

    /// The number of restarts so far.
    var count: Int { state.withLock { $0.count } }

    /// Interrupts all work.
    func raise() {
        let waiting = state.withLock { state in
            state.count += 1
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.finish() }
    }

    /// Runs work and cancels it if there is a restart.
    ///
    /// - Parameters:
    ///   - count: the number of restarts that the caller knows of; if there was another since, the work does not start.
    ///   - work: the work to run.
    /// - Returns: the result of the work, even if a restart came before it ended.
    /// - Throws: ``Restarted``, or an error of the work.
    func run<Value: Sendable>(
        after count: Int,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let (restarts, continuation) = AsyncStream<Never>.makeStream()
        guard let id = register(continuation, after: count) else { throw Restarted() }
        defer { state.withLock { $0.waiting[id] = nil } }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                for await _ in restarts {}
                return nil
            }
            defer { group.cancelAll() }
            if let value = try await group.next() ?? nil { return value }
            group.cancelAll()
            if let value = try? await group.next() ?? nil { return value }
            try Task.checkCancellation()
            throw Restarted()
        }
    }

    private func register(_ continuation: AsyncStream<Never>.Continuation, after count: Int) -> Int? {
        state.withLock { state in
            guard state.count == count else { return nil }
            state.nextID += 1
            state.waiting[state.nextID] = continuation
            return state.nextID
        }
    }
}
