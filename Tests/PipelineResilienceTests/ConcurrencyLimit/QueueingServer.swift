import Foundation
import Pipeline

/// A server with a number of workers and an unbounded queue, as a discrete-event simulation.
///
/// It knows nothing of the plugin that is tested. A request that finds all workers busy waits; abandoned requests keep
/// their place, because the server does not notice.
struct QueueingServer {
    /// How service times vary around their mean.
    enum Spread {
        case none
        /// Evenly between half and one and a half times the mean.
        case even
        /// Exponentially distributed.
        case exponential
    }

    private(set) var workerCount: Int
    let serviceTime: Double
    let spread: Spread
    private var random: PipelineRandom
    /// The moments at which the workers become free, earliest first.
    private var freeAt: [Double]

    init(workers: Int, serviceTime: Double, spread: Spread, seed: UInt64) {
        workerCount = workers
        self.serviceTime = serviceTime
        self.spread = spread
        random = .seeded(seed)
        freeAt = Array(repeating: 0, count: workers)
    }

    /// Takes a request at a moment not before the last one, and returns when its response is complete.
    mutating func respond(at now: Double) -> Double {
        let end = max(now, freeAt.removeFirst()) + drawServiceTime()
        freeAt.insert(end, at: freeAt.firstIndex { $0 > end } ?? freeAt.endIndex)
        return end
    }

    /// Changes the number of workers.
    mutating func setWorkers(_ count: Int) {
        while freeAt.count > count { freeAt.removeFirst() }
        while freeAt.count < count { freeAt.insert(0, at: 0) }
        workerCount = count
    }

    private mutating func drawServiceTime() -> Double {
        switch spread {
        case .none: serviceTime
        case .even: serviceTime * Double.random(in: 0.5...1.5, using: &random)
        case .exponential: -serviceTime * log(Double.random(in: Double.leastNonzeroMagnitude...1, using: &random))
        }
    }
}
