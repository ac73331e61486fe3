import Dispatch

/// An executor that runs an actor on a queue of its own, so that blocking calls do not occupy the cooperative pool.
public final class BlockingExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// Creates an executor whose queue has a label.
    public init(label: String) { queue = DispatchQueue(label: label) }

    /// Runs a job on the queue.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
}
