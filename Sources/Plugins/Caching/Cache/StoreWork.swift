import PipelineCore
import Synchronization

/// How a call waits for a store.
struct StoreOperation: Sendable {
    /// How long the call waits, including the wait for earlier operations; `nil` for as long as the call may take.
    let limit: Duration?
    /// Whether the wait ends when the call is cancelled.
    var isCancellable = true
    /// Whether the operation counts towards the maximum number.
    var isCounted = true
    /// Whether the operation counts apart from others, so that none that is late refuses it.
    var isRemoval = false
    /// Whether the wait is a span of the timeline; pieces of a body are too many.
    var isRecorded = true

    /// How long a call waits for a piece of a body.
    static let pieceLimit = Duration.seconds(1)

    static let lookup = Self(limit: .seconds(1))
    /// A lookup whose call has no other source.
    static let onlyLookup = Self(limit: nil)
    /// Reads a piece of a body, which has one read at a time; a refused one could end its call.
    static let read = Self(limit: pieceLimit, isCounted: false, isRecorded: false)
    static let append = Self(limit: pieceLimit, isRecorded: false)
    /// Appends a piece of a body that is worth keeping when the call is cancelled.
    static let keep = Self(limit: pieceLimit, isCancellable: false, isRecorded: false)
    static let finish = Self(limit: .seconds(1), isCancellable: false)
    /// Removes responses that must not be used any more.
    static let removal = Self(limit: .seconds(1), isCancellable: false, isRemoval: true)
}

/// The work of stores that calls wait for: at most 64 operations at a time, and a queue of those that came later.
///
/// A call leaves when its time is over or when it is cancelled, even if the store does not respond to cancellation. The
/// work then ends on its own. If the callers of all 64 operations have left, the store hangs: no operation waits for
/// it.
final class StoreWork: Sendable {
    private struct State {
        var lastID = 0
        var running: Set<Int> = []
        /// The running operations whose callers have left.
        var late: Set<Int> = []
        /// The operations that wait, in the order in which they came.
        var waiting: [(id: Int, turn: CheckedContinuation<Bool, Never>)] = []

        var hangs: Bool { late.count >= maximumCount }

        mutating func makeID() -> Int {
            lastID += 1
            return lastID
        }

        /// Begins an operation; returns `false` if the store hangs, and `nil` if the operation has to wait.
        mutating func begin(_ id: Int) -> Bool? {
            if hangs { return false }
            guard running.count < maximumCount else { return nil }
            running.insert(id)
            return true
        }

        /// Removes an operation from those that wait.
        mutating func leave(_ id: Int) -> CheckedContinuation<Bool, Never>? {
            waiting.firstIndex { $0.id == id }.map { waiting.remove(at: $0).turn }
        }
    }

    private static let maximumCount = 64
    private let state = Mutex(State())

    /// The number of operations in progress.
    var runningCount: Int { state.withLock { $0.running.count } }

    /// The number of operations that wait for their turn.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Returns the result of work that runs in a task of its own.
    ///
    /// Throws the error of the work, `cacheUnavailable` if the time is over or the store hangs, and, if the wait is
    /// cancellable, `CancellationError`.
    func run<Output: Sendable>(
        _ operation: StoreOperation,
        on clock: PipelineClock,
        _ work: @escaping @Sendable () async throws -> Output?
    ) async throws -> Output? {
        let id = operation.isCounted ? state.withLock { $0.makeID() } : nil
        let deadline = operation.limit.map { clock.now.advanced(by: $0) }
        let wait = Wait<Output>()
        let task = Self.startAtOnce(on: clock.taskExecutor) { [self] in
            guard await begin(id) else {
                wait.end(.failure(Self.hanging))
                return
            }
            let result: Result<Output?, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            end(id)
            wait.end(result)
        }
        if let result = wait.result { return try result.get() }
        let timer = deadline.map { deadline in
            Self.startAtOnce(on: clock.taskExecutor) { [self] in
                do { try await clock.sleep(until: deadline) } catch { return }
                let text = "the cache did not respond within \(PipelineError.text(of: operation.limit ?? .zero))"
                guard wait.end(.failure(PipelineError(.cacheUnavailable, text))) else { return }
                task.cancel()
                leave(id)
            }
        }
        defer { timer?.cancel() }
        guard operation.isCancellable else { return try await wait.value() }
        return try await withTaskCancellationHandler {
            try await wait.value()
        } onCancel: {
            guard wait.end(.failure(CancellationError())) else { return }
            task.cancel()
            leave(id)
        }
    }

    private static let hanging = PipelineError(
        .cacheUnavailable,
        "the cache has \(maximumCount) operations in progress that no call waits for any more"
    )

    /// Waits for the turn of an operation; returns whether it may run.
    private func begin(_ id: Int?) async -> Bool {
        guard let id else { return true }
        // The caller may have left before the operation gets here; it must not count as running then.
        if let mayRun = state.withLock({ Task.isCancelled ? false : $0.begin(id) }) { return mayRun }
        return await withCheckedContinuation { turn in
            let mayRun = state.withLock { state -> Bool? in
                if let mayRun = Task.isCancelled ? false : state.begin(id) { return mayRun }
                state.waiting.append((id, turn))
                return nil
            }
            if let mayRun { turn.resume(returning: mayRun) }
        }
    }

    /// Ends an operation and begins the next one.
    private func end(_ id: Int?) {
        guard let id else { return }
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            state.running.remove(id)
            state.late.remove(id)
            guard !state.waiting.isEmpty else { return nil }
            let next = state.waiting.removeFirst()
            state.running.insert(next.id)
            return next.turn
        }
        next?.resume(returning: true)
    }

    /// Notes that the caller of an operation has left, after its task was cancelled.
    private func leave(_ id: Int?) {
        guard let id else { return }
        let turns = state.withLock { state -> [CheckedContinuation<Bool, Never>] in
            if let turn = state.leave(id) { return [turn] }
            guard state.running.contains(id) else { return [] }
            state.late.insert(id)
            guard state.hangs else { return [] }
            defer { state.waiting = [] }
            return state.waiting.map(\.turn)
        }
        for turn in turns { turn.resume(returning: false) }
    }

    /// Starts a task on the thread of its caller, if the system can, so that short work needs no other thread.
    private static func startAtOnce(
        on executor: (any TaskExecutor)?,
        _ work: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            return Task.immediate(executorPreference: executor) { await work() }
        }
        return Task(executorPreference: executor) { await work() }
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
