package import Dispatch

/// Where callbacks run: one that belongs to an actor there, every other on the queue, without one on a background executor.
package struct CallbackPlace: Sendable {
    package var queue: DispatchQueue?

    package init(queue: DispatchQueue? = nil) {
        self.queue = queue
    }

    /// Runs a callback where one runs that belongs to this actor, and waits for its end.
    ///
    /// - Parameters:
    ///   - actor: the actor that the callback belongs to.
    ///   - isOff: is asked there, with nothing between its answer and the callback.
    ///   - callback: the callback.
    /// - Returns: whether it ran.
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
        // A synchronous call, which is sure to run on the actor; an asynchronous one hops by itself.
        if isOff() { return false }
        await callback()
        return true
    }
}

/// Runs on a queue what belongs to no actor.
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
