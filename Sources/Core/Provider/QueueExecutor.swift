#if canImport(Dispatch)
public import Dispatch

/// An executor that runs callbacks on a dispatch queue.
public final class QueueExecutor: TaskExecutor {
    private let queue: DispatchQueue

    fileprivate init(_ queue: DispatchQueue) {
        self.queue = queue
    }

    /// Runs a job on the queue.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

extension TaskExecutor where Self == QueueExecutor {
    /// An executor that runs callbacks on a dispatch queue, such as `.queue(.main)`.
    public static func queue(_ queue: DispatchQueue) -> QueueExecutor { QueueExecutor(queue) }
}
#endif
