/// The executor of the tasks that a call starts and that may outlive it; `nil` for the default one.
///
/// Child tasks inherit the executor of their parent, but these do not. Virtual time needs to run them, too.
package enum SeparateTasks {
    @TaskLocal package static var executor: (any TaskExecutor)?
}

/// An executor of virtual time, which does not pass while work takes real time.
package protocol VirtualTime: TaskExecutor {
    func beginRealWork()
    func endRealWork()
}

extension SeparateTasks {
    /// Starts a task on the thread of its caller, if the system can, so that work that does not wait needs no other.
    static func startAtOnce<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Task<Value, Never> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            return Task.immediate(executorPreference: executor) { await work() }
        }
        return Task(executorPreference: executor) { await work() }
    }

    /// Runs work that takes real time, such as reading a file; virtual time does not advance meanwhile.
    static func inRealTime<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        guard let executor = executor as? any VirtualTime else { return try await work() }
        executor.beginRealWork()
        defer { executor.endRealWork() }
        return try await work()
    }
}

extension PipelineClock {
    /// The executor for a task that a plugin starts and that is not a child of its own task; `nil` for the default one.
    ///
    /// ```swift
    /// Task(executorPreference: context.clock.taskExecutor) { await refresh() }
    /// ```
    ///
    /// With it, such tasks take part in virtual time, see `ManualClock.run` of `PipelineTesting`. The property reads a
    /// task-local value, so a detached task does not see it.
    public var taskExecutor: (any TaskExecutor)? { SeparateTasks.executor }
}
