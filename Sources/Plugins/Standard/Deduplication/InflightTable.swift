import PipelineCore

/// Which calls share which exchange: takes events and returns what to do.
///
/// An exchange is in flight from the arrival of the call that leads it until it ends or its last caller leaves. It is
/// open to more callers until it is closed, full, or no longer in flight. At most one exchange of each key is open.
/// Callers and exchanges have numbers: an exchange has the number of the caller that leads it.
struct InflightTable<Key: Hashable, Waiter, Work> {
    /// What a caller does next.
    enum Arrival: Equatable {
        /// Begin the exchange with the caller's number, then wait.
        case lead
        /// Wait for the exchange with this number.
        case join(Int)
        /// Use an exchange that no other call shares, because the maximum number of exchanges is reached.
        case refused

        /// Returns the number of the exchange that a caller waits for; `nil` if it does not wait.
        func exchange(of caller: Int) -> Int? {
            switch self {
            case .lead: caller
            case .join(let exchange): exchange
            case .refused: nil
            }
        }
    }

    /// The call that a caller belongs to.
    ///
    /// Each of its copies of a request is a caller of its own.
    struct Call {
        let id: Int
        /// Whether another copy may be waiting.
        let mayWait: Bool
    }

    /// A caller that has left before the exchange ended.
    struct Departure {
        /// The waiter to resume.
        let waiter: Waiter
        /// The work to cancel, if the caller was the last.
        let abandoned: Work?
        /// The number of the exchange that the last caller has left; `nil` if others wait for it.
        let end: Int?
    }

    private struct Exchange {
        let number: Int
        let start: PipelineClock.Instant?
        var work: Work?
        /// In the order of their callers.
        var waiters: [(caller: Int, call: Int?, waiter: Waiter)]
        /// The calls that wait; `nil` until a copy arrives.
        var calls: Set<Int>?

        init(ledBy caller: Int, of call: Call?, _ waiter: Waiter, at now: PipelineClock.Instant?) {
            number = caller
            start = now
            waiters = [(caller, call?.id, waiter)]
        }

        /// Whether another copy of a call's request waits.
        mutating func hasCopy(of call: Call?) -> Bool {
            guard let call, call.mayWait else { return false }
            let calls = calls ?? Set(waiters.compactMap(\.call))
            self.calls = calls
            return calls.contains(call.id)
        }

        /// Whether the exchange began too long ago to be joined.
        func isOlder(than age: Duration?, at now: PipelineClock.Instant?) -> Bool {
            guard let age, let start, let now else { return false }
            return start.duration(to: now) > age
        }

        /// Adds a caller unless the limit is reached or a copy waits, and returns whether it did.
        mutating func add(_ caller: Int, of call: Call?, _ waiter: Waiter, upTo limit: Int) -> Bool {
            guard waiters.count < limit, !hasCopy(of: call) else { return false }
            // Callers arrive in order, unless one overtakes another on the way to the table.
            let index = waiters.lastIndex { $0.caller < caller }.map { $0 + 1 } ?? 0
            waiters.insert((caller, call?.id, waiter), at: index)
            if let call { calls?.insert(call.id) }
            return true
        }

        mutating func remove(_ caller: Int) -> Waiter? {
            var range = waiters.indices
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                let found = waiters[middle].caller
                if found == caller {
                    let removed = waiters.remove(at: middle)
                    if let call = removed.call { calls?.remove(call) }
                    return removed.waiter
                }
                range = found < caller ? middle + 1..<range.upperBound : range.lowerBound..<middle
            }
            return nil
        }
    }

    private let maximumCallerCount: Int
    private let maximumExchangeCount: Int
    /// The age beyond which no caller joins an exchange; `nil` for any.
    private let maximumAge: Duration?
    private var open: [Key: Exchange] = [:]
    /// Exchanges in flight that callers may join only by number.
    private var closed: [Int: Exchange] = [:]

    /// The number of times that the table was closed.
    private(set) var closeCount = 0
    /// The number of callers that wait.
    private(set) var callerCount = 0

    init(maximumCallerCount: Int, maximumExchangeCount: Int, maximumAge: Duration? = nil) {
        self.maximumCallerCount = maximumCallerCount
        self.maximumExchangeCount = maximumExchangeCount
        self.maximumAge = maximumAge
    }

    /// The number of exchanges in flight.
    var exchangeCount: Int { open.count + closed.count }

    /// Adds a caller to the open exchange of its key, or lets it begin one.
    mutating func arrive(
        _ caller: Int,
        of call: Call? = nil,
        for key: Key,
        _ waiter: Waiter,
        at now: PipelineClock.Instant? = nil
    ) -> Arrival {
        if let index = open.index(forKey: key), !open.values[index].isOlder(than: maximumAge, at: now),
            open.values[index].add(caller, of: call, waiter, upTo: maximumCallerCount)
        {
            callerCount += 1
            return .join(open.values[index].number)
        }
        guard exchangeCount < maximumExchangeCount else { return .refused }
        let new = Exchange(ledBy: caller, of: call, waiter, at: now)
        if let other = open.updateValue(new, forKey: key) { closed[other.number] = other }
        callerCount += 1
        return .lead
    }

    /// Adds a caller to an exchange of its key, open or not.
    ///
    /// - Returns: whether the exchange is in flight and has room for the caller.
    mutating func join(
        _ caller: Int,
        of call: Call? = nil,
        to exchange: Int,
        for key: Key,
        _ waiter: Waiter,
        at now: PipelineClock.Instant? = nil
    ) -> Bool {
        let isAdded: Bool
        if let index = open.index(forKey: key), open.values[index].number == exchange {
            isAdded =
                !open.values[index].isOlder(than: maximumAge, at: now)
                && open.values[index].add(caller, of: call, waiter, upTo: maximumCallerCount)
        } else if let index = closed.index(forKey: exchange) {
            isAdded =
                !closed.values[index].isOlder(than: maximumAge, at: now)
                && closed.values[index].add(caller, of: call, waiter, upTo: maximumCallerCount)
        } else {
            isAdded = false
        }
        if isAdded { callerCount += 1 }
        return isAdded
    }

    /// Attaches the work of an exchange that has begun.
    ///
    /// - Returns: whether the exchange is still in flight. If it is not, cancel the work.
    mutating func attach(_ work: Work, to exchange: Int, for key: Key) -> Bool {
        if let index = open.index(forKey: key), open.values[index].number == exchange {
            open.values[index].work = work
            return true
        }
        guard let index = closed.index(forKey: exchange) else { return false }
        closed.values[index].work = work
        return true
    }

    /// Removes a caller that stops waiting.
    ///
    /// - Returns: `nil` if the caller does not wait, because its exchange has ended, it has left, or it was refused.
    mutating func leave(_ caller: Int, for key: Key) -> Departure? {
        if let index = open.index(forKey: key), let waiter = open.values[index].remove(caller) {
            callerCount -= 1
            let left = open.values[index].waiters.isEmpty ? open.remove(at: index).value : nil
            return Departure(waiter: waiter, abandoned: left?.work, end: left?.number)
        }
        for index in closed.indices {
            guard let waiter = closed.values[index].remove(caller) else { continue }
            callerCount -= 1
            let left = closed.values[index].waiters.isEmpty ? closed.remove(at: index).value : nil
            return Departure(waiter: waiter, abandoned: left?.work, end: left?.number)
        }
        return nil
    }

    /// Removes an exchange that has ended.
    ///
    /// - Returns: the callers to resume, in the order of their numbers; empty if all have left.
    mutating func finish(_ exchange: Int, for key: Key) -> [(caller: Int, call: Int?, waiter: Waiter)] {
        let ended: Exchange?
        if let index = open.index(forKey: key), open.values[index].number == exchange {
            ended = open.remove(at: index).value
        } else {
            ended = closed.removeValue(forKey: exchange)
        }
        guard let ended else { return [] }
        callerCount -= ended.waiters.count
        return ended.waiters
    }

    /// Closes the exchanges in flight to further callers.
    mutating func close() {
        closeCount += 1
        guard !open.isEmpty else { return }
        for exchange in open.values { closed[exchange.number] = exchange }
        open = [:]
    }
}
