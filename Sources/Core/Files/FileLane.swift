import Dispatch
import Synchronization

/// A queue that runs blocking file operations one after another, outside the cooperative thread pool.
///
/// A stalled disk delays only the operations of its own lane. The queue is serial and has no target, so it gets its own
/// thread even while the cooperative pool is busy. At most 128 lanes of a process work at the same time, not counting
/// threads that run an operation themselves in `runBlocking(_:)`.
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

    /// Runs an operation after the earlier ones and returns its result.
    ///
    /// A cancelled caller stops waiting at once. If its operation has begun, the operation runs to its end and its
    /// result is released in the lane. Otherwise, the operation is skipped.
    ///
    /// - Throws: `CancellationError`, or the error that the operation throws.
    package func run<Output: Sendable>(_ operation: @escaping @Sendable () throws -> Output) async throws -> Output {
        let wait = Wait<Output>()
        return try await SeparateTasks.inRealTime {
            try await withTaskCancellationHandler {
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
    }

    /// Runs an operation that must not be skipped, and waits for its end even if the task is cancelled.
    package func complete<Output: Sendable>(_ operation: @escaping @Sendable () throws -> Output) async throws -> Output
    {
        try await SeparateTasks.inRealTime {
            try await withCheckedThrowingContinuation { continuation in
                add { continuation.resume(with: Result { try operation() }) }
            }
        }
    }

    /// Adds an operation after the earlier ones, without waiting for it.
    package func add(_ operation: @escaping Operation) {
        let isFirst = state.withLock { state in
            state.waiting.append(operation)
            defer { state.isWorking = true }
            return !state.isWorking
        }
        if isFirst { startWork() }
    }

    /// Runs an operation after the earlier ones and blocks the calling thread; use it only where waiting is
    /// unavoidable, as in a `deinit`.
    ///
    /// If the lane is idle, the calling thread runs the operation itself, and so waits for no other lane.
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

    /// Waits for the operations so far, and for those that their release adds, for at most a tenth of a second.
    ///
    /// The limit exists because the operations may be stalled.
    ///
    /// The limit is measured in system time, because it is the system that may stall. A cancelled task waits, too.
    package func settle() async {
        let wait = Wait<Void>()
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.setEventHandler { wait.end(.success(())) }
        timer.schedule(deadline: .now() + .milliseconds(100))
        timer.activate()
        try? await withCheckedThrowingContinuation { continuation in
            guard wait.begin(continuation) else { return }
            // The caller of the last operation may get here before the lane releases it, along with a file that is then
            // closed.
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

    /// Returns whether operations are waiting; if none are, the lane becomes idle.
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

    /// The result of an operation for which a thread is blocked.
    private final class End<Output: Sendable>: Sendable {
        let semaphore = DispatchSemaphore(value: 0)
        let result = Mutex<Result<Output, any Error>>(.failure(CancellationError()))
    }

    /// A caller that waits for its first result.
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

        /// Returns `false` and resumes the caller if it was already cancelled.
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

/// The limit on the threads of all lanes.
///
/// The system gives a process 255 threads for its serial queues, and on Linux the main actor and `URLSession` need some
/// of them. All lanes therefore share one limit, and lanes beyond it begin in order of arrival.
final class FileThreads: Sendable {
    private struct State {
        var count = 0
        var waiting: [@Sendable () -> Void] = []
    }

    static let shared = FileThreads(maximumCount: 128)

    private let maximumCount: Int
    private let state = Mutex(State())

    init(maximumCount: Int) { self.maximumCount = maximumCount }

    /// Calls the closure as soon as a thread is free.
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

    /// Passes the thread of a lane on to the next one.
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
