/// Workers that take requests from one queue, first in, first out.
///
/// The end of a request's work is known as soon as it arrives, because no later request is served before it.
struct SimulatedQueue {
    /// The numbers of workers and the moments from which they apply, in order.
    private let workers: [(moment: Duration, count: Int)]
    /// The index of the number of workers that applies at `lastStart`.
    private var current = 0
    /// The moments at which workers become free, the earliest last.
    private var ends: [Duration] = []
    /// When work on the last request began.
    private var lastStart = Duration.zero
    /// Whether no worker will ever be free.
    private var isStopped = false

    init(workers: Int, later: [Duration: Int]) {
        self.workers = [(.zero, workers)] + later.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Adds a request that arrives no earlier than any other, and returns the moment at which its work is complete;
    /// `nil` if no worker will ever be free for it.
    mutating func add(at arrival: Duration, taking time: Duration) -> Duration? {
        lastStart = max(lastStart, arrival)
        while !isStopped {
            while current + 1 < workers.count, workers[current + 1].moment <= lastStart { current += 1 }
            while let end = ends.last, end <= lastStart { ends.removeLast() }
            if ends.count < workers[current].count {
                let end = lastStart + time
                ends.insert(end, at: ends.partitionIndex { $0 >= end })
                return end
            }
            let change = current + 1 < workers.count ? workers[current + 1].moment : nil
            if let next = [ends.last, change].compactMap({ $0 }).min() { lastStart = next } else { isStopped = true }
        }
        return nil
    }
}
