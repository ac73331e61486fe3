import PipelineCore

/// The calls that wait for permits, in the order in which they get them.
///
/// The calls of a priority are served in the order of their arrival, and higher priorities go first. Each lower
/// priority is served after the calls of other priorities have taken nine times the cost of its first call, so it gets
/// at least one permit in ten. Each priority also keeps a tenth of the places, which others take only while it does not
/// need them.
struct WaitQueue: Sendable {
    /// A waiting call.
    struct Ticket: Sendable, Hashable {
        /// A number that grows with each ticket.
        let id: Int
        let cost: Int
        let priority: TrafficPriority
        /// The moment from which the call no longer wants its permits.
        var deadline: PipelineClock.Instant?
    }

    /// What became of a new ticket.
    enum Entry: Sendable, Hashable {
        case added
        /// The ticket was added, and another one was removed.
        case replaced(Ticket)
        case refused
    }

    /// A waiting priority gets at least one permit, and keeps one place, out of this many.
    static let shareDivisor = 10

    private let maximumCount: Int
    private var tickets: [Int: Ticket] = [:]
    /// The tickets of each priority, by its rank.
    private var orders = [TicketOrder<Int>](repeating: .init(), count: TrafficPriority.rankCount)
    /// The permits that other priorities took while a priority waited, by its rank.
    private var missed = [Int](repeating: 0, count: TrafficPriority.rankCount)
    private var deadlines = TicketOrder<PipelineClock.Instant>()
    /// The number of tickets of each priority, by its rank.
    private var counts = [Int](repeating: 0, count: TrafficPriority.rankCount)

    init(maximumCount: Int) {
        self.maximumCount = maximumCount
    }

    var count: Int { tickets.count }

    var isEmpty: Bool { tickets.isEmpty }

    var earliestDeadline: PipelineClock.Instant? { deadlines.first?.key }

    /// The newest ticket of the lowest priority.
    var last: Ticket? {
        orders.lazy.compactMap(\.last).first.flatMap { tickets[$0.id] }
    }

    /// The ticket to serve next.
    var first: Ticket? {
        var choice: Ticket?
        var mostMissed = 0
        for rank in orders.indices {
            guard let entry = orders[rank].first, let ticket = tickets[entry.id] else { continue }
            let isDue = missed[rank] >= ticket.cost * (Self.shareDivisor - 1)
            if mostMissed == 0 || (isDue && missed[rank] > mostMissed) { choice = ticket }
            if isDue { mostMissed = max(mostMissed, missed[rank]) }
        }
        return choice
    }

    /// Adds a ticket; if the queue is full, only in place of another.
    mutating func add(_ ticket: Ticket) -> Entry {
        var removed: Ticket?
        if count >= maximumCount {
            guard let other = replaceable(by: ticket) else { return .refused }
            remove(other.id)
            removed = other
        }
        tickets[ticket.id] = ticket
        counts[ticket.priority.rank] += 1
        orders[ticket.priority.rank].insert(ticket.id, by: ticket.id)
        if let deadline = ticket.deadline { deadlines.insert(ticket.id, by: deadline) }
        return removed.map { .replaced($0) } ?? .added
    }

    /// Returns the ticket that has to leave a full queue for another, `nil` if none has.
    ///
    /// It is the newest of the lowest priority that has more than its share.
    private func replaceable(by ticket: Ticket) -> Ticket? {
        let (share, rank) = (maximumCount / Self.shareDivisor, ticket.priority.rank)
        let isEntitled = counts[rank] < share
        for other in orders.indices where other != rank && (other < rank || isEntitled) {
            if counts[other] > share, let last = orders[other].last { return tickets[last.id] }
        }
        return nil
    }

    /// Removes a ticket that gets its permits.
    mutating func serve(_ ticket: Ticket) {
        remove(ticket.id)
        for rank in orders.indices where orders[rank].first != nil {
            missed[rank] = rank == ticket.priority.rank ? 0 : missed[rank] + ticket.cost
        }
    }

    /// Removes a ticket, and returns whether it was in the queue.
    @discardableResult
    mutating func remove(_ id: Int) -> Bool {
        guard let ticket = tickets.removeValue(forKey: id) else { return false }
        let rank = ticket.priority.rank
        counts[rank] -= 1
        orders[rank].removeAll(notIn: tickets)
        if orders[rank].first == nil { missed[rank] = 0 }
        if ticket.deadline != nil { deadlines.removeAll(notIn: tickets) }
        return true
    }

    /// Removes the tickets whose deadline has come.
    mutating func removeExpired(at now: PipelineClock.Instant) -> [Ticket] {
        var expired: [Ticket] = []
        while let entry = deadlines.first, entry.key <= now, let ticket = tickets[entry.id] {
            remove(ticket.id)
            expired.append(ticket)
        }
        return expired
    }
}

/// The numbers of tickets in the order of a key.
///
/// The first and the last are always in the queue; numbers between them may have left it.
private struct TicketOrder<Key: Comparable & Sendable>: Sendable {
    private var entries: [(key: Key, id: Int)] = []
    private var start = 0

    var first: (key: Key, id: Int)? { start < entries.count ? entries[start] : nil }

    var last: (key: Key, id: Int)? { start < entries.count ? entries.last : nil }

    /// Inserts a number after those with the same key.
    mutating func insert(_ id: Int, by key: Key) {
        var (low, high) = (start, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].key <= key { low = middle + 1 } else { high = middle }
        }
        entries.insert((key, id), at: low)
    }

    /// Drops the numbers at both ends that are not in the queue, and all such numbers once they are the majority.
    mutating func removeAll(notIn tickets: [Int: WaitQueue.Ticket]) {
        while let first, tickets[first.id] == nil { start += 1 }
        while let last, tickets[last.id] == nil { entries.removeLast() }
        guard start == entries.count || entries.count > 2 * tickets.count + 32 else { return }
        entries = entries[start...].filter { tickets[$0.id] != nil }
        start = 0
    }
}

extension TrafficPriority {
    /// The rank, from 0 for the lowest priority.
    fileprivate var rank: Int { self < .normal ? 0 : self == .normal ? 1 : 2 }

    fileprivate static var rankCount: Int { 3 }
}
