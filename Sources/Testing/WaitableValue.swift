import Foundation
import Synchronization

/// Says what a test waited for in vain.
///
/// ``ManualClock/waitForSleepers(_:)``, ``ScriptedTransport/waitForRequests(_:)`` and
/// ``LoopbackServer/wait(until:)`` throw it after two minutes of real time, so that a test does not wait forever.
public struct WaitTimeout: Error, CustomStringConvertible {
    /// One sentence: what did not happen, and what did.
    public let description: String

    /// The number of pauses of 100 ms after which a wait fails.
    ///
    /// A busy machine makes each pause longer.
    @TaskLocal static var pauseCount = 1_200
}

/// A value that tests change and wait for.
// The condition guards the value and the watchers. It is not a `Mutex` because threads wait for it, and because the
// thread sanitizer does not see the slow path of a `Mutex` and would report false races.
final class WaitableValue<Value>: @unchecked Sendable {
    private let condition = NSCondition()
    private var value: Value
    private var watchers: [(isSatisfied: @Sendable (Value) -> Bool, waiter: Waiter)] = []

    init(_ value: Value) {
        self.value = value
    }

    func read<Result>(_ body: (Value) -> Result) -> Result {
        condition.withLock { body(value) }
    }

    /// Changes the value and continues the tasks and threads that waited for the new one.
    func update<Result>(_ body: (inout Value) -> Result) -> Result {
        let (result, satisfied) = condition.withLock {
            let result = body(&value)
            let satisfied = watchers.filter { $0.isSatisfied(value) }
            if !satisfied.isEmpty { watchers.removeAll { $0.isSatisfied(value) } }
            condition.broadcast()
            return (result, satisfied)
        }
        for watcher in satisfied { watcher.waiter.end() }
        return result
    }

    /// Waits until the value satisfies a condition.
    ///
    /// Throws ``WaitTimeout`` after two minutes of real time, with a sentence that says what did not happen, and what
    /// did.
    func wait(
        until isSatisfied: @escaping @Sendable (Value) -> Bool,
        orFailWith sentence: @escaping @Sendable (Value) -> String
    ) async throws {
        let waiter = Waiter()
        let isOver = condition.withLock {
            if isSatisfied(value) { return true }
            watchers.append((isSatisfied, waiter))
            return false
        }
        if isOver { return }
        defer { condition.withLock { watchers.removeAll { $0.waiter === waiter } } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<WaitTimeout.pauseCount { try await ContinuousClock().sleep(for: .milliseconds(100)) }
                waiter.end(.failure(WaitTimeout(description: self.read(sentence))))
            }
            defer { group.cancelAll() }
            try await waiter.wait()
        }
    }

    /// Blocks the thread until the value satisfies a condition.
    ///
    /// - Returns: whether it did before the time was over.
    func block(within limit: Duration, until isSatisfied: (Value) -> Bool) -> Bool {
        let end = ContinuousClock.now + limit
        return condition.withLock {
            while !isSatisfied(value) {
                let rest = ContinuousClock.now.duration(to: end)
                guard rest > .zero else { return false }
                // In parts, because Foundation refuses long times.
                _ = condition.wait(until: Date(timeIntervalSinceNow: min(rest / .seconds(1), 60)))
            }
            return true
        }
    }
}

/// One wait, which ends once: by what it waits for, by cancellation, or by an error.
final class Waiter: Sendable {
    private struct State {
        var result: Result<Void, any Error>?
        var continuation: CheckedContinuation<Void, any Error>?
    }

    private let state = Mutex(State())

    var hasEnded: Bool { state.withLock { $0.result != nil } }

    /// Ends the wait unless it has ended.
    func end(_ result: Result<Void, any Error> = .success(())) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard state.result == nil else { return nil }
            state.result = result
            return state.continuation.take()
        }
        continuation?.resume(with: result)
    }

    /// Waits for the end.
    ///
    /// - Throws: how the wait ended, if not by what it waits for.
    func wait() async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { begin($0) }
        } onCancel: {
            end(.failure(CancellationError()))
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
