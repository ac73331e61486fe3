import Pipeline
import TestSupport
import Testing

@testable import PipelineTesting

/// Compares the rules with slow ones that follow their definition.
@Suite("Rules of SimulatedServer", .watched)
struct SimulatedRulesTests {
    @Test("A count over every window is that of a search through all windows", arguments: 1...20)
    func sliding(seed: Int) {
        var random = PipelineRandom.seeded(UInt64(seed))
        let window = Duration.milliseconds(Int.random(in: 1...50, using: &random))
        let limit = Int.random(in: 0...8, using: &random)
        var count = SlidingCount(limit: limit, window: window)
        var moments: [Duration] = []
        var now = Duration.zero
        for _ in 0..<300 {
            now += .milliseconds(Int.random(in: 0...12, using: &random))
            moments.append(now)
            count.add(at: now)
            let inWindow = moments.count { $0 > now - window && $0 <= now }
            #expect(count.count(at: now) == inWindow)
            let wait = count.timeUntilRoom(at: now)
            if limit > 0 {
                // At that moment there is room, and a nanosecond earlier there was none.
                func countLater(by wait: Duration) -> Int { moments.count { $0 > now + wait - window } }
                #expect(countLater(by: wait) < limit)
                #expect(wait == .zero || countLater(by: wait - .nanoseconds(1)) >= limit)
            }
        }
        let counts = moments.map { start in moments.count { $0 >= start && $0 < start + window } }
        #expect(count.highest == counts.max())
        let exceeded = moments.indices.filter { index in
            moments[...index].count { $0 > moments[index] - window } > limit
        }
        #expect(count.exceededCount == exceeded.count)
    }

    @Test("A queue completes work when a simulation in small steps does", arguments: 1...40)
    func queue(seed: Int) {
        var random = PipelineRandom.seeded(UInt64(seed))
        let workers = Int.random(in: 0...4, using: &random)
        let pairs = (0..<3).map { _ in
            (Int.random(in: 0...200, using: &random), Int.random(in: 0...4, using: &random))
        }
        let later = Dictionary(pairs + [(300, 1)]) { first, _ in first }
        let requests = (0..<60).map { _ in
            (arrival: Int.random(in: 0...250, using: &random), time: Int.random(in: 1...20, using: &random))
        }.sorted { $0.arrival < $1.arrival }

        var ends: [Int: Int] = [:]
        var next = 0
        for moment in 0..<2_000 {
            let capacity = later.filter { $0.key <= moment }.max { $0.key < $1.key }?.value ?? workers
            while next < requests.count, requests[next].arrival <= moment,
                ends.values.filter({ $0 > moment }).count < capacity
            {
                ends[next] = moment + requests[next].time
                next += 1
            }
        }
        let changes = Dictionary(uniqueKeysWithValues: later.map { (Duration.milliseconds($0.key), $0.value) })
        var queue = SimulatedQueue(workers: workers, later: changes)
        for (index, request) in requests.enumerated() {
            let end = queue.add(at: .milliseconds(request.arrival), taking: .milliseconds(request.time))
            #expect(end == ends[index].map { .milliseconds($0) })
        }
    }

    @Test("Requests that would wait for a worker forever never end, nor do those after them")
    func stopped() {
        var queue = SimulatedQueue(workers: 1, later: [.seconds(1): 0])
        #expect(queue.add(at: .zero, taking: .seconds(3)) == .seconds(3))
        #expect(queue.add(at: .zero, taking: .seconds(1)) == nil)
        #expect(queue.add(at: .seconds(5), taking: .seconds(1)) == nil)
    }
}
