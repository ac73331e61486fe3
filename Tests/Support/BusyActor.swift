package import Dispatch
import Synchronization

/// An actor that a test can block by suspending the queue of its executor.
package actor BusyActor {
    package nonisolated let executor = BusyExecutor()
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    package private(set) var notes: [String] = []

    package init() {}

    package func note(_ text: String) { notes.append(text) }
}

package final class BusyExecutor: SerialExecutor {
    package let queue = DispatchQueue(label: "actor")
    private let count = Atomic(0)

    package var jobCount: Int { count.load(ordering: .relaxed) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        count.add(1, ordering: .relaxed)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
