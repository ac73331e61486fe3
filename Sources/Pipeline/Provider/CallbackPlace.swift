package import Dispatch

/// Where callbacks run: on the actor that a callback is isolated to, else on the queue, else on a background executor.
package struct CallbackPlace: Sendable {
    package var queue: DispatchQueue?

    package init(queue: DispatchQueue? = nil) {
        self.queue = queue
    }

    /// Runs a callback on its actor or in the place for callbacks without one, and waits until it has returned.
    ///
    /// - Parameters:
    ///   - actor: the actor that the callback is isolated to.
    ///   - isOff: called in the same place immediately before the callback; `true` skips the callback.
    ///   - callback: the closure to run.
    /// - Returns: whether the callback ran.
    @concurrent
    @discardableResult
    package func run(
        isolatedTo actor: (any Actor)?,
        unless isOff: @Sendable () -> Bool = { false },
        _ callback: @Sendable () async -> Void
    ) async -> Bool {
        guard actor == nil, let queue else { return await Self.run(on: actor, isOff, callback) }
        return await withTaskExecutorPreference(QueueExecutor(queue)) { await Self.run(on: nil, isOff, callback) }
    }

    private static func run(
        on actor: isolated (any Actor)?,
        _ isOff: () -> Bool,
        _ callback: () async -> Void
    ) async -> Bool {
        // `isOff()` is synchronous, so it is sure to run on the actor; the asynchronous callback switches to its actor
        // on its own.
        if isOff() { return false }
        await callback()
        return true
    }
}

/// An executor that runs jobs isolated to no actor on a queue.
private final class QueueExecutor: TaskExecutor {
    private let queue: DispatchQueue

    init(_ queue: DispatchQueue) {
        self.queue = queue
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
