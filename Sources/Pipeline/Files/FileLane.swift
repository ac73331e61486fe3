import Dispatch
import Synchronization

/// Runs the blocking operations on a file one after the other, on a thread that is not of the cooperative pool.
///
/// A stalled disk holds up the operations of its own lane and no other task. The queue is serial and has no target, so that it gets a
/// thread of its own even while every thread of the cooperative pool is busy. At most 128 lanes of a process work at the same time, apart
/// from those that a thread works for itself, see `runBlocking(_:)`.
package final class FileLane: Sendable {
    package typealias Operation = @Sendable () -> Void

    private struct State {
        var waiting: [Operation] = []
        var isWorking = false
    }

    private let queue = DispatchQueue(label: "pipeline.files")
    private let state = Mutex(State())
    private let threads: FileThreads

    package convenience init() { self.init(.shared) }

    init(_ threads: FileThreads) { self.threads = threads }

    /// Runs an operation after those before it and returns its result.
    ///
    /// A caller that is cancelled stops waiting at once. An operation that has begun by then runs to its end, and its result is
    /// released in the lane; one that has not begun is skipped.
    ///
    /// - Throws: `CancellationError`, and what the operation throws.
    package func run<Output: Sendable>(_ operation: @escaping @Sendable () throws -> Output) async throws -> Output {
        let wait = Wait<Output>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard wait.begin(continuation) else { return }
                add {
                    guard wait.isOpen else { return }
                    wait.end(Result { try operation() })
                }
            }
        } onCancel: {
            wait.end(.failure(CancellationError()))
        }
    }

    /// Runs an operation that must not be left out, and waits for its end even if the task is cancelled.
    package func complete<Output: Sendable>(_ operation: @escaping @Sendable () throws -> Output) async throws -> Output
    {
        try await withCheckedThrowingContinuation { continuation in
            add { continuation.resume(with: Result { try operation() }) }
        }
    }

    /// Runs an operation after those before it, for which no caller waits.
    package func add(_ operation: @escaping Operation) {
        let isFirst = state.withLock { state in
            state.waiting.append(operation)
            defer { state.isWorking = true }
            return !state.isWorking
        }
        if isFirst { startWork() }
    }

    /// Runs an operation after those before it, while the calling thread waits: only where there is no other way, as in a `deinit`.
    ///
    /// The calling thread runs it itself if the lane is idle, and so waits for no other lane.
    package func runBlocking<Output: Sendable>(_ operation: @escaping @Sendable () throws -> Output) throws -> Output {
        let isIdle = state.withLock { state in
            defer { state.isWorking = true }
            return !state.isWorking
        }
        if isIdle {
            defer { if hasMore() { startWork() } }
            return try operation()
        }
        let end = End<Output>()
        add {
            let result = Result { try operation() }
            end.result.withLock { $0 = result }
            end.semaphore.signal()
        }
        end.semaphore.wait()
        return try end.result.withLock { $0 }.get()
    }

    /// Waits until the operations so far have ended, and what their release has added, but no longer than a tenth of a second: they
    /// may be stalled.
    ///
    /// The time is that of the machine, for it is the machine that is waited for. A cancelled task waits, too.
    package func settle() async {
        let wait = Wait<Void>()
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.setEventHandler { wait.end(.success(())) }
        timer.schedule(deadline: .now() + .milliseconds(100))
        timer.activate()
        try? await withCheckedThrowingContinuation { continuation in
            guard wait.begin(continuation) else { return }
            // Who waited for the last operation may be here before the lane has released it, and with it a file that is closed then.
            add { [self] in add { wait.end(.success(())) } }
        }
        timer.cancel()
    }
}

extension FileLane {
    private func startWork() {
        threads.begin { [self] in queue.async(execute: work) }
    }

    private func work() {
        while let operation = next() { operation() }
        threads.end()
    }

    /// Whether operations wait; if none does, the lane is idle again.
    private func hasMore() -> Bool {
        state.withLock { state in
            state.isWorking = !state.waiting.isEmpty
            return state.isWorking
        }
    }

    private func next() -> Operation? {
        state.withLock { state in
            state.isWorking = !state.waiting.isEmpty
            return state.isWorking ? state.waiting.removeFirst() : nil
        }
    }

    /// The end of an operation that a thread waits for.
    private final class End<Output: Sendable>: Sendable {
        let semaphore = DispatchSemaphore(value: 0)
        let result = Mutex<Result<Output, any Error>>(.failure(CancellationError()))
    }

    /// A caller that waits, until its first result.
    private final class Wait<Output: Sendable>: Sendable {
        private enum State {
            case idle
            case waiting(CheckedContinuation<Output, any Error>)
            case over
        }

        private let state = Mutex(State.idle)

        /// Whether a result is still wanted.
        var isOpen: Bool {
            state.withLock { state in
                if case .waiting = state { true } else { false }
            }
        }

        /// Returns `false` for a caller that was cancelled before, and resumes it.
        func begin(_ continuation: CheckedContinuation<Output, any Error>) -> Bool {
            let isOpen = state.withLock { state in
                guard case .idle = state else { return false }
                state = .waiting(continuation)
                return true
            }
            if !isOpen { continuation.resume(throwing: CancellationError()) }
            return isOpen
        }

        func end(_ result: Result<Output, any Error>) {
            let last = state.withLock { state in
                defer { state = .over }
                return state
            }
            if case .waiting(let continuation) = last { continuation.resume(with: result) }
        }
    }
}

/// The threads of all lanes.
///
/// They belong to the process: the system gives it 255 for its serial queues, and on Linux the main actor and `URLSession` need
/// some of them. So there is one limit for all, and lanes beyond it begin in the order in which they came.
final class FileThreads: Sendable {
    private struct State {
        var count = 0
        var waiting: [@Sendable () -> Void] = []
    }

    static let shared = FileThreads(maximumCount: 128)

    private let maximumCount: Int
    private let state = Mutex(State())

    init(maximumCount: Int) { self.maximumCount = maximumCount }

    /// Begins when there is a thread.
    func begin(_ start: @escaping @Sendable () -> Void) {
        let hasThread = state.withLock { state in
            guard state.count < maximumCount else {
                state.waiting.append(start)
                return false
            }
            state.count += 1
            return true
        }
        if hasThread { start() }
    }

    /// Gives the thread of a lane to the next one.
    func end() {
        let next = state.withLock { state -> (@Sendable () -> Void)? in
            if state.waiting.isEmpty {
                state.count -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?()
    }
}
