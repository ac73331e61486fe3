import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineResilience

@Suite("WaitQueue", .watched)
struct WaitQueueTests {
    private let start = PipelineClock(ManualClock()).now

    private func ticket(
        _ id: Int,
        _ priority: TrafficPriority = .normal,
        cost: Int = 1,
        deadline: Int? = nil
    ) -> WaitQueue.Ticket {
        let moment = deadline.map { start.advanced(by: .seconds($0)) }
        return WaitQueue.Ticket(id: id, cost: cost, priority: priority, deadline: moment)
    }

    private func queue(_ tickets: WaitQueue.Ticket..., maximumCount: Int = 100) -> WaitQueue {
        var queue = WaitQueue(maximumCount: maximumCount)
        for ticket in tickets { _ = queue.add(ticket) }
        return queue
    }

    /// Serves tickets and returns their numbers.
    private func serve(_ count: Int = .max, of queue: inout WaitQueue) -> [Int] {
        var served: [Int] = []
        while served.count < count, let ticket = queue.first {
            queue.serve(ticket)
            served.append(ticket.id)
        }
        return served
    }

    /// Adds a ticket to a plain list.
    private func add(
        _ ticket: WaitQueue.Ticket,
        to list: inout [WaitQueue.Ticket],
        maximumCount: Int
    ) -> WaitQueue.Entry {
        var removed: WaitQueue.Ticket?
        if list.count == maximumCount {
            func count(_ priority: TrafficPriority) -> Int { list.count { $0.priority == priority } }
            let share = maximumCount / 10
            let other = [TrafficPriority.low, .normal, .high].first { priority in
                (priority < ticket.priority || priority != ticket.priority && count(ticket.priority) < share)
                    && count(priority) > share
            }
            guard let other else { return .refused }
            removed = list.lastIndex { $0.priority == other }.map { list.remove(at: $0) }
        }
        list.append(ticket)
        return removed.map { .replaced($0) } ?? .added
    }

    @Test("Higher priorities go first, and calls of the same priority in the order of their arrival")
    func order() {
        var queue = queue(ticket(1, .low), ticket(2), ticket(3, .high), ticket(4), ticket(5, .high))
        #expect(queue.count == 5)
        #expect(serve(of: &queue) == [3, 5, 2, 4, 1])
        #expect(queue.isEmpty)
    }

    @Test("Each priority with waiting calls gets a permit in ten")
    func share() {
        var queue = WaitQueue(maximumCount: 10_000)
        for id in 1...3_000 { _ = queue.add(ticket(id, [.low, .normal, .high][id % 3])) }
        // The two lower priorities are due at the same time once, at the beginning.
        #expect(serve(11, of: &queue).map { $0 % 3 } == Array(repeating: 2, count: 9) + [0, 1])
        let served = serve(1_000, of: &queue)
        let counts = [2, 1, 0].map { rank in served.count { $0 % 3 == rank } }
        #expect(counts == [800, 100, 100])
        let gaps = zip(served.indices, served).filter { $0.1 % 3 == 0 }.map(\.0)
        #expect(zip(gaps, gaps.dropFirst()).allSatisfy { $1 - $0 <= 11 })
    }

    @Test("The share counts permits, so a call with a cost of 3 waits three times as long")
    func costs() {
        var queue = queue(ticket(1, .low, cost: 3), ticket(2, .low, cost: 3))
        for id in 3...99 { _ = queue.add(ticket(id, .high)) }
        let served = serve(of: &queue)
        #expect(served.firstIndex(of: 1) == 27)
        #expect(served.firstIndex(of: 2) == 55)
    }

    @Test("A priority saves up no share while none of its calls waits, or while it is the highest that waits")
    func saving() {
        var queue = queue(ticket(1, .low), ticket(2, .low), ticket(3, .low))
        for id in 4...8 { _ = queue.add(ticket(id, .high)) }
        #expect(serve(of: &queue) == [4, 5, 6, 7, 8, 1, 2, 3])
        for id in 9...18 { _ = queue.add(ticket(id, .high)) }
        for id in 19...20 { _ = queue.add(ticket(id, .low)) }
        #expect(serve(of: &queue) == Array(9...17) + [19, 18, 20])
        for id in 31...38 { _ = queue.add(ticket(id, .high)) }
        _ = queue.add(ticket(39, .low))
        _ = serve(8, of: &queue)
        queue.remove(39)
        _ = queue.add(ticket(40, .low))
        for id in 41...49 { _ = queue.add(ticket(id, .high)) }
        #expect(serve(of: &queue) == Array(41...49) + [40])
    }

    @Test("A full queue refuses a call, or removes the newest call of the lowest priority for a higher one")
    func full() {
        var queue = queue(ticket(1), ticket(2, .low), ticket(3, .low), maximumCount: 3)
        let new = [ticket(4, .low), ticket(5), ticket(6, .high), ticket(7), ticket(8, .high)]
        let entries = new.map { queue.add($0) }
        let removed = [ticket(3, .low), ticket(2, .low), ticket(5)].map { WaitQueue.Entry.replaced($0) }
        #expect(entries == [.refused, removed[0], removed[1], .refused, removed[2]])
        #expect(serve(of: &queue) == [6, 8, 1])
        var none = WaitQueue(maximumCount: 0)
        let entry = none.add(ticket(1, .high))
        #expect(entry == .refused)
    }

    @Test("V10: each priority keeps a tenth of the places, also against higher ones that come first")
    func keptPlaces() {
        var queue = WaitQueue(maximumCount: 100)
        for id in 0..<200 { _ = queue.add(ticket(id, .high)) }
        let low = (200..<220).map { queue.add(ticket($0, .low)) }
        #expect(low.count { $0 != .refused } == 10)
        let normal = (220..<240).map { queue.add(ticket($0)) }
        #expect(normal.count { $0 != .refused } == 10)
        // Higher ones take no kept place, and a low one none that is not its own.
        let more = (240..<260).map { queue.add(ticket($0, .high)) }
        #expect(more.allSatisfy { $0 == .refused })
        let served = serve(of: &queue)
        #expect(served.count { $0 < 200 } == 80)
        #expect(served.count { (200..<220).contains($0) } == 10)
    }

    @Test("Expired calls are removed at their deadline, the earliest first")
    func deadlines() {
        var queue = queue(
            ticket(1, deadline: 3),
            ticket(2, .low, deadline: 1),
            ticket(3),
            ticket(4, .high, deadline: 2)
        )
        #expect(queue.earliestDeadline == start.advanced(by: .seconds(1)))
        let expired = [999, 2_000].map { queue.removeExpired(at: start.advanced(by: .milliseconds($0))).map(\.id) }
        #expect(expired == [[], [2, 4]])
        #expect(queue.earliestDeadline == start.advanced(by: .seconds(3)))
        let removals = [queue.remove(1), queue.remove(1)]
        #expect(removals == [true, false])
        #expect(queue.earliestDeadline == nil)
        #expect(serve(of: &queue) == [3])
    }

    @Test("The queue behaves as a plain list does, in 2,000 random steps", arguments: 1...20)
    func model(seed: Int) {
        var random = PipelineRandom.seeded(UInt64(seed))
        var queue = WaitQueue(maximumCount: 30)
        var list: [WaitQueue.Ticket] = []
        for id in 1...2_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6:
                let priority: [TrafficPriority] = [.low, .normal, .high]
                let new = ticket(
                    id,
                    priority[Int.random(in: 0...2, using: &random)],
                    deadline: Bool.random(using: &random) ? id + Int.random(in: 1...200, using: &random) : nil
                )
                let entry = queue.add(new)
                #expect(entry == add(new, to: &list, maximumCount: 30))
            case 6..<8:
                guard let first = queue.first else { continue }
                #expect(first == list.first { $0.priority == first.priority })
                queue.serve(first)
                list.removeAll { $0 == first }
            case 8:
                guard let chosen = list.randomElement(using: &random) else { continue }
                let isRemoved = queue.remove(chosen.id)
                #expect(isRemoved)
                list.removeAll { $0 == chosen }
            default:
                let now = start.advanced(by: .seconds(id))
                let expired = queue.removeExpired(at: now)
                #expect(Set(expired) == Set(list.filter { $0.deadline.map { $0 <= now } ?? false }))
                list.removeAll { expired.contains($0) }
            }
            #expect(queue.count == list.count)
            #expect(queue.earliestDeadline == list.compactMap(\.deadline).min())
        }
    }
}
