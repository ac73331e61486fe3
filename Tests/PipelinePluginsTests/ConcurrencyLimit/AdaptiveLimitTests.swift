import Pipeline
import TestSupport
import Testing

@testable import PipelinePlugins

@Suite("AdaptiveLimit", .watched)
struct AdaptiveLimitTests {
    /// Clients that always have more requests for a server than a limit lets through.
    private struct Load {
        var server: QueueingServer
        var limit: AdaptiveLimit
        private var now = 0.0
        private var inFlight: [(start: Double, end: Double)] = []

        init(server: QueueingServer, limit: AdaptiveLimit) {
            self.server = server
            self.limit = limit
        }

        /// Returns the index of the first request that ends later.
        private func index(after end: Double) -> Int {
            var (low, high) = (0, inFlight.count)
            while low < high {
                let middle = (low + high) / 2
                if inFlight[middle].end > end { high = middle } else { low = middle + 1 }
            }
            return low
        }

        /// Runs for a number of seconds, and returns the mean of the limit over the second half.
        mutating func run(seconds: Double) -> Double {
            let (begin, stop) = (now, now + seconds)
            var (sum, weight) = (0.0, 0.0)
            while now < stop {
                while inFlight.count < limit.permits {
                    let request = (start: now, end: server.respond(at: now))
                    inFlight.insert(request, at: index(after: request.end))
                }
                let count = inFlight.count
                let request = inFlight.removeFirst()
                if request.end > begin + seconds / 2 {
                    sum += Double(limit.permits) * (request.end - now)
                    weight += request.end - now
                }
                now = request.end
                limit.add(.seconds(request.end - request.start), inFlight: count, wasDropped: false)
            }
            return sum / weight
        }
    }

    /// Three servers, and how many seconds they run until the limit has found the knee.
    private static let servers: [(workers: Int, serviceTime: Double, seconds: Double)] = [
        (8, 0.005, 16), (40, 0.02, 20), (200, 0.1, 60),
    ]

    @Test(
        "The limit finds the knee of a server within 20 %, and follows it when the capacity halves and doubles",
        arguments: [QueueingServer.Spread.none, .even],
        [1, 20, 500]
    )
    func knee(spread: QueueingServer.Spread, initial: Int) {
        for (index, (workers, serviceTime, seconds)) in Self.servers.enumerated() {
            var load = Load(
                server: QueueingServer(
                    workers: workers,
                    serviceTime: serviceTime,
                    spread: spread,
                    seed: UInt64(index)
                ),
                limit: AdaptiveLimit(initial: initial, range: 1...1_000)
            )
            for capacity in [workers, workers / 2, workers] {
                load.server.setWorkers(capacity)
                let ratio = load.run(seconds: seconds) / Double(capacity)
                #expect((0.8...1.2).contains(ratio), "\(workers) workers, now \(capacity): \(ratio)")
            }
        }
    }

    @Test(
        "The limit finds the knee of a server whose service times are distributed exponentially within 30 %",
        arguments: [1, 2, 3, 11]
    )
    func exponential(seed: Int) {
        for (workers, serviceTime, seconds) in Self.servers {
            var load = Load(
                server: QueueingServer(
                    workers: workers,
                    serviceTime: serviceTime,
                    spread: .exponential,
                    seed: UInt64(seed)
                ),
                limit: AdaptiveLimit(initial: 20, range: 1...1_000)
            )
            let ratio = load.run(seconds: 2 * seconds) / Double(workers)

            #expect((0.7...1.3).contains(ratio), "\(workers) workers: \(ratio)")
        }
    }

    @Test("A limit that requests do not use up does not grow")
    func idle() {
        var limit = AdaptiveLimit(initial: 20, range: 1...1_000)
        for _ in 1...10_000 { limit.add(.milliseconds(5), inFlight: 2, wasDropped: false) }
        #expect(limit.permits <= 20)
        while limit.permits < 100 { limit.add(.milliseconds(5), inFlight: limit.permits, wasDropped: false) }
        // The latency rises, so the limit has found the knee.
        for _ in 1...500 { limit.add(.milliseconds(50), inFlight: limit.permits, wasDropped: false) }
        let permits = limit.permits
        for _ in 1...10_000 { limit.add(.milliseconds(5), inFlight: 2, wasDropped: false) }
        #expect(limit.permits <= permits)
    }

    @Test("A limit shrinks to the lower bound if the server drops everything, and grows to the upper one if it is fast")
    func bounds() {
        var limit = AdaptiveLimit(initial: 20, range: 3...50)
        for _ in 1...5_000 { limit.add(.milliseconds(5), inFlight: limit.permits, wasDropped: true) }
        #expect(limit.permits == 3)
        for _ in 1...10_000 { limit.add(.milliseconds(5), inFlight: limit.permits, wasDropped: false) }
        #expect(limit.permits == 50)
    }

    @Test("A few failures do not shrink the limit, many do")
    func failures() {
        for (percent, shrinks) in [(1, false), (20, true)] {
            var limit = AdaptiveLimit(initial: 20, range: 1...40)
            for sample in 1...20_000 {
                limit.add(.milliseconds(5), inFlight: limit.permits, wasDropped: sample % 100 < percent)
            }
            #expect((limit.permits < 10) == shrinks, "\(percent) %: \(limit.permits)")
        }
    }
}
