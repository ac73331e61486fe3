import Pipeline
import TestSupport
import Testing

@testable import PipelineResilience

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
                let (start, end) = (Duration.seconds(request.start), Duration.seconds(request.end))
                limit.add(AdaptiveLimit.Sample(start: start, end: end, inFlight: count, hasQueue: true))
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
        // The largest server takes most of the time.
        let servers = Self.servers.dropLast(initial == 20 ? 0 : 1)
        for (index, (workers, serviceTime, seconds)) in servers.enumerated() {
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
        for (workers, serviceTime, seconds) in Self.servers.dropLast(seed == 1 ? 0 : 1) {
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

    @Test("V02: after 4 s, the limit no longer follows its first baseline, which is coarse", arguments: 9...12)
    func firstBaseline(seed: UInt64) {
        var load = Load(
            server: QueueingServer(workers: 40, serviceTime: 0.02, spread: .exponential, seed: seed),
            limit: AdaptiveLimit(initial: 20, range: 1...1_000)
        )
        let ratio = load.run(seconds: 8) / 40
        #expect(ratio < 1.5, "\(ratio)")
    }

    /// Adds samples one after the other, as many as requests are in flight at a time.
    private static func add(
        _ count: Int,
        to limit: inout AdaptiveLimit,
        at now: inout Duration,
        latency: Duration,
        inFlight: Int? = nil,
        hasQueue: Bool = true,
        outcome: (Int) -> AdaptiveLimit.Outcome = { _ in .answered }
    ) {
        for index in 0..<count {
            let inFlight = inFlight ?? limit.permits
            now += latency / inFlight
            limit.add(
                AdaptiveLimit.Sample(
                    start: now - latency,
                    end: now,
                    inFlight: inFlight,
                    hasQueue: hasQueue,
                    outcome: outcome(index)
                )
            )
        }
    }

    @Test("V02: without requests that wait, the limit neither grows nor falls, whatever the latency")
    func idle() {
        var limit = AdaptiveLimit(initial: 200, range: 1...1_000)
        var now = Duration.zero
        for milliseconds in [5, 50, 5_000, 5] {
            Self.add(2_000, to: &limit, at: &now, latency: .milliseconds(milliseconds), inFlight: 190, hasQueue: false)
            #expect(limit.permits == 200)
        }
    }

    @Test("V02: at 2 requests per second, the limit falls within 30 s if the server drops a fifth of them")
    func slowTraffic() {
        var limit = AdaptiveLimit(initial: 200, range: 1...1_000)
        for index in 0..<60 {
            let end = Duration.milliseconds(500 * (index + 1))
            let outcome = index % 5 == 4 ? AdaptiveLimit.Outcome.refused : .answered
            limit.add(
                AdaptiveLimit.Sample(
                    start: end - .milliseconds(50),
                    end: end,
                    inFlight: 1,
                    hasQueue: false,
                    outcome: outcome
                )
            )
        }
        #expect(limit.permits <= 120, "\(limit.permits)")
    }

    @Test("The limit shrinks to the lower bound if the server drops everything, and then grows to the upper one")
    func bounds() {
        var limit = AdaptiveLimit(initial: 20, range: 3...50)
        var now = Duration.zero
        Self.add(5_000, to: &limit, at: &now, latency: .milliseconds(5)) { _ in .refused }
        #expect(limit.permits == 3)
        Self.add(10_000, to: &limit, at: &now, latency: .milliseconds(5))
        #expect(limit.permits == 50)
    }

    @Test("Failures that do not depend on the load shrink the limit for a while at most", arguments: [1, 20])
    func failures(percent: Int) {
        var limit = AdaptiveLimit(initial: 20, range: 1...40)
        var now = Duration.zero
        var sum = 0
        for index in 0..<20_000 {
            Self.add(1, to: &limit, at: &now, latency: .milliseconds(5)) { _ in
                index % 100 < percent ? .refused : .answered
            }
            if index >= 10_000 { sum += limit.permits }
        }
        #expect(sum / 10_000 > 20, "\(sum / 10_000)")
    }

    @Test("V02: after an outage in which requests time out, the limit lets all through again within 10 s")
    func recovery() {
        var limit = AdaptiveLimit(initial: 200, range: 1...1_000)
        var now = Duration.zero
        Self.add(2_000, to: &limit, at: &now, latency: .seconds(8)) { _ in .late }
        #expect(limit.permits < 20)
        let end = now
        while limit.permits < 100, now < end + .seconds(60) {
            Self.add(1, to: &limit, at: &now, latency: .milliseconds(50))
        }
        #expect(now - end < .seconds(10), "\(now - end)")
    }

    @Test("V03: a server that hangs lowers the limit, also if the timeout is only a few times its latency")
    func hung() {
        var limit = AdaptiveLimit(initial: 200, range: 1...1_000)
        var now = Duration.zero
        Self.add(3_000, to: &limit, at: &now, latency: .milliseconds(200))
        #expect(limit.permits >= 200)
        Self.add(4_000, to: &limit, at: &now, latency: .seconds(1)) { _ in .late }
        #expect(limit.permits < 20, "\(limit.permits)")
    }

    @Test("V03: the limit falls to what a server takes that refuses the rest at once, as nginx does with limit_conn")
    func refusals() {
        var limit = AdaptiveLimit(initial: 200, range: 1...1_000)
        var now = Duration.zero
        var flights: [(start: Duration, end: Duration, isAccepted: Bool)] = []
        var (sum, weight) = (0.0, 0.0)
        while now < .seconds(60) {
            while flights.count < limit.permits {
                let isAccepted = flights.count { $0.isAccepted } < 10
                flights.append((now, now + .milliseconds(isAccepted ? 50 : 2), isAccepted))
            }
            let count = flights.count
            guard let index = flights.indices.min(by: { flights[$0].end < flights[$1].end }) else { return }
            let flight = flights.remove(at: index)
            if flight.end > .seconds(10) {
                sum += Double(limit.permits) * ((flight.end - now) / .seconds(1))
                weight += (flight.end - now) / .seconds(1)
            }
            now = flight.end
            limit.add(
                AdaptiveLimit.Sample(
                    start: flight.start,
                    end: now,
                    inFlight: count,
                    hasQueue: true,
                    outcome: flight.isAccepted ? .answered : .refused
                )
            )
        }
        #expect((6...12).contains(sum / weight), "\(sum / weight)")
    }
}
