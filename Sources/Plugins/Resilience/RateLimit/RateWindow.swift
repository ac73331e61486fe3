/// The requests that a server may count at the same time under a limit, and the spacing between them.
///
/// A request arrives up to `jitter` after it was sent, so requests that are sent evenly arrive unevenly. A server that
/// counts every window therefore sees more than the limit if requests are only spaced. For that reason, a request
/// counts from the moment it is sent until `window` after the moment by which it has certainly arrived. That is when
/// its response begins, or `jitter` after it was sent. A request that takes its place is sent later, so it arrives more
/// than `window` after it.
///
/// The spacing is that of GCRA. In addition, the requests after one that was held up may follow at twice the pace until
/// they are back on schedule, unless that is turned off. Each gap that the window forces is then lost: with a jitter of
/// 0 to 50 ms, 96.3 % of the limit is used instead of 97.4 %.
///
/// Moments are nanoseconds since any origin, and never decrease.
struct RateWindow: Sendable {
    enum Availability: Equatable {
        case now
        case at(Int64)
        /// Only ``depart(_:at:)`` or ``cancel(_:of:at:)`` helps.
        case afterChange
    }

    /// The most entries that a window is divided into, which bounds the memory.
    static let maximumEntryCount = 10_000
    /// How many intervals behind schedule requests may be and still catch up.
    private static let catchUp: Int64 = 4

    private let limit: Int
    private let window: Int64
    private let jitter: Int64
    /// How much earlier than evenly spaced a request of a burst may be sent.
    private let tolerance: Int64
    /// The time between two requests that cost 1, if all are evenly spaced.
    private let interval: Int64
    /// The length to whose multiples moments are rounded up, for limits above ``maximumEntryCount``.
    private let slice: Int64
    private let catchesUp: Bool

    private var arrived = RateQueue()
    private var flying = RateQueue()
    private(set) var reservedCost = 0
    /// The moment at which the next request is due if all are evenly spaced; `nil` before the first.
    private var due: Int64?
    /// Where ``due`` would be if no request had been held up lately; never later.
    private var schedule: Int64 = 0
    /// The moment until which the next request is known to be held up.
    private var heldUntil: Int64?
    private var lastReservation: Int64 = 0
    private var lastCost: Int64 = 0

    init(limit: Int, window: Int64, burst: Int, jitter: Int64, catchesUp: Bool = true) {
        self.limit = limit
        self.window = window
        self.jitter = jitter
        self.catchesUp = catchesUp
        interval = max(1, (window - 1) / Int64(limit) + 1)
        tolerance = interval * Int64(burst - 1)
        slice = limit > Self.maximumEntryCount ? max(1, window / Int64(Self.maximumEntryCount)) : 1
    }

    /// The cost of all requests that count.
    private var cost: Int { arrived.cost + flying.cost + reservedCost }

    /// Returns whether no request counts any more.
    mutating func isIdle(at now: Int64) -> Bool {
        advance(to: now)
        return cost == 0
    }

    /// Returns when a request may be sent; its cost must not exceed the limit.
    mutating func availability(of cost: Int, at now: Int64) -> Availability {
        advance(to: now)
        var moment = earliestByPace
        let excess = self.cost + cost - limit
        if excess > 0 {
            guard let release = release(of: excess) else { return .afterChange }
            moment = max(moment, release)
        }
        guard moment > now else { return .now }
        heldUntil = moment
        return .at(moment)
    }

    /// Counts a request that will be sent.
    mutating func reserve(_ cost: Int, at now: Int64) {
        reservedCost += cost
        let lag = Self.catchUp * interval
        let wasHeld = heldUntil.map { now - $0 <= lag } ?? false
        schedule = max(schedule, wasHeld ? now - lag : now) + interval * Int64(cost)
        due = max(now, due ?? now) + interval * Int64(cost)
        heldUntil = nil
        lastReservation = now
        lastCost = Int64(cost)
    }

    /// Notes that a reserved request is sent now; returns the number of its flight.
    mutating func depart(_ cost: Int, at now: Int64) -> Int {
        reservedCost -= cost
        return flying.append(cost, at: rounded(now))
    }

    /// Notes that a request has arrived no later than now.
    mutating func arrive(_ cost: Int, of flight: Int, at now: Int64) {
        advance(to: now)
        guard flying.remove(cost, from: flight) else { return }
        arrived.append(cost, at: rounded(now))
    }

    /// Notes that a reserved request, or one in flight, has certainly not been sent.
    mutating func cancel(_ cost: Int, of flight: Int? = nil, at now: Int64) {
        if let flight {
            _ = flying.remove(cost, from: flight)
        } else {
            reservedCost -= cost
        }
        guard let due else { return }
        // Without catching up, another request may have been sent after this one, and keeps its distance to the next.
        let earliest = catchesUp ? now : max(now, lastReservation + interval * lastCost)
        guard due > earliest else { return }
        let returned = min(due - earliest, interval * Int64(cost))
        self.due = due - returned
        schedule -= returned
    }

    private var earliestByPace: Int64 {
        guard let due else { return .min }
        guard catchesUp else { return due - tolerance }
        return min(due - tolerance, max(schedule - tolerance, lastReservation + interval / 2))
    }

    private mutating func advance(to now: Int64) {
        while let first = flying.first, first.cost == 0 || first.time + jitter <= now {
            flying.removeFirst()
            if first.cost > 0 { arrived.append(first.cost, at: rounded(first.time + jitter)) }
        }
        while let first = arrived.first, first.time + window < now { arrived.removeFirst() }
    }

    /// Returns when so much of the limit is free again; `nil` if that is not known.
    private func release(of excess: Int) -> Int64? {
        if let moment = arrived.moment(whenReleased: excess) { return moment + window + 1 }
        return flying.moment(whenReleased: excess - arrived.cost).map { rounded($0 + jitter) + window + 1 }
    }

    private func rounded(_ moment: Int64) -> Int64 {
        let rest = moment % slice
        return rest == 0 ? moment : moment - rest + slice
    }
}
