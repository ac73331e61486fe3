import Dispatch
import Synchronization

/// An actor that can be kept from running, by the queue of its executor.
actor BusyActor {
    nonisolated let executor = BusyExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private(set) var notes: [String] = []

    func note(_ text: String) { notes.append(text) }
}

final class BusyExecutor: SerialExecutor {
    let queue = DispatchQueue(label: "actor")
    private let count = Atomic(0)

    var jobCount: Int { count.load(ordering: .relaxed) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        count.add(1, ordering: .relaxed)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
