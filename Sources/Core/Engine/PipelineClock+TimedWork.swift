import Synchronization

extension PipelineClock {
    /// Runs the work on one of the system's clocks, and cancels it once there is no later moment to look.
    ///
    /// In a task group, the work and the wait would each need a thread of their own. Here, the work begins on the
    /// caller's thread, and a timer is needed only if it waits.
    func run<Value: Sendable>(
        on timers: TimerQueue,
        throwing timeout: @autoclosure () -> PipelineError,
        _ work: @escaping @Sendable () async throws -> Value,
        nextLook: @escaping @Sendable () -> Instant?
    ) async throws -> Value {
        let race = Race()
        let isCancelled = Task.isCancelled
        let task = SeparateTasks.startAtOnce { () async -> Result<Value, any Error> in
            // Unlike a child task, this one does not begin cancelled.
            if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
            defer { race.workEnds() }
            do { return .success(try await work()) } catch { return .failure(error) }
        }
        guard !race.isOver else { return try await task.value.get() }
        let timer = timers.schedule(at: nextLook() ?? now) {
            if let next = nextLook() { return next }
            if race.timerEnds() { task.cancel() }
            return nil
        }
        defer { timers.cancel(timer) }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        if race.isTimedOut { throw timeout() }
        return try result.get()
    }

    /// Which ends first, the work or the timer.
    private final class Race: Sendable {
        private enum State { case runs, workEnded, timedOut }

        private let state = Mutex(State.runs)

        var isOver: Bool { state.withLock { $0 != .runs } }
        var isTimedOut: Bool { state.withLock { $0 == .timedOut } }

        func workEnds() {
            state.withLock { if $0 == .runs { $0 = .workEnded } }
        }

        /// Returns whether the work has not ended.
        func timerEnds() -> Bool {
            state.withLock { state in
                if state == .runs { state = .timedOut }
                return state == .timedOut
            }
        }
    }
}
