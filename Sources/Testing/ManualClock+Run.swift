import Dispatch
import PipelineCore
import Synchronization

extension ManualClock {
    /// Runs work in virtual time: whenever all of its tasks wait, the clock advances to the next sleeper.
    ///
    /// ```swift
    /// let clock = ManualClock()
    /// let provider = Provider<Shop>(transport: transport, plugins: plugins, configuration: .init(clock: clock))
    /// let response = try await clock.run { try await provider.request(.items) }
    /// ```
    ///
    /// The work and its child tasks run one at a time, in the order in which they became ready. With a seeded
    /// `PipelineRandom`, every run is the same. This includes calls with a callback, and the tasks that plugins start
    /// with `next.start`, `startBackgroundCall` or `clock.taskExecutor`. Any other task that is not a child runs as
    /// usual, and so does a task on an actor with an executor of its own, such as that of `DiskCacheStore`. If the work
    /// waits for such a task while another task sleeps, the clock advances. It does not advance while the pipeline
    /// reads or writes files of uploads, downloads and recordings.
    ///
    /// - Parameter work: the work, with all tasks that sleep on this clock as its children.
    /// - Returns: what the work returns.
    /// - Throws: what the work throws.
    public func run<Output: Sendable>(
        _ work: @Sendable @concurrent () async throws -> Output
    ) async rethrows -> Output {
        let executor = VirtualTimeExecutor(self)
        // A task that does not run on the executor may begin to sleep when all others already wait.
        let observer = observeSleepers { [weak executor] in executor?.resume() }
        defer { removeObserver(observer) }
        return try await SeparateTasks.$executor.withValue(executor) {
            try await withTaskExecutorPreference(executor) {
                // Within the last job, so that the clock does not advance after it.
                defer { executor.end() }
                return try await work()
            }
        }
    }
}

/// Runs jobs one after the other.
///
/// When none is left, advances a clock to its next sleeper.
private final class VirtualTimeExecutor: VirtualTime {
    private struct State {
        var jobs: [UnownedJob] = []
        /// The index of the next job.
        var next = 0
        var isRunning = false
        var hasEnded = false
        /// The number of operations that take real time.
        var realWorkCount = 0

        mutating func takeJob() -> UnownedJob? {
            guard next < jobs.count else {
                jobs.removeAll(keepingCapacity: true)
                next = 0
                return nil
            }
            next += 1
            return jobs[next - 1]
        }
    }

    private let clock: ManualClock
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "pipeline.testing.virtual-time")

    init(_ clock: ManualClock) {
        self.clock = clock
    }

    func enqueue(_ job: consuming ExecutorJob) { add(UnownedJob(job)) }

    /// Advances the clock if no job is left.
    func resume() { add(nil) }

    private func add(_ job: UnownedJob?) {
        let begins = state.withLock { state in
            if let job { state.jobs.append(job) }
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if begins { queue.async { self.runJobs() } }
    }

    func beginRealWork() { state.withLock { $0.realWorkCount += 1 } }

    func endRealWork() {
        state.withLock { $0.realWorkCount -= 1 }
        resume()
    }

    /// Stops the clock.
    func end() { state.withLock { $0.hasEnded = true } }

    private func runJobs() {
        while true {
            if let job = state.withLock({ $0.takeJob() }) {
                job.runSynchronously(on: asUnownedTaskExecutor())
                continue
            }
            let stands = state.withLock { $0.hasEnded || $0.realWorkCount > 0 }
            if !stands, clock.advanceIfAnyoneSleeps() { continue }
            let stops = state.withLock { state in
                state.isRunning = state.next < state.jobs.count
                return !state.isRunning
            }
            if stops { return }
        }
    }
}
