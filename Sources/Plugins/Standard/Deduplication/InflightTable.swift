import PipelineCore

/// Which calls share which exchange: takes events and returns what to do.
///
/// An exchange is in flight from the arrival of the call that leads it until it ends or its last caller leaves. It is
/// open to more callers until it is closed, full, or no longer in flight. At most one exchange of each key is open.
/// Callers and exchanges have numbers: an exchange has the number of the caller that leads it.
struct InflightTable<Key: Hashable, Waiter: Sendable, Work> {
    /// A copy of a call's request that waits for an exchange.
    struct Caller {
        let number: Int
        /// The call, and whether another copy of its request may be waiting.
        var call: Int?
        var mayHaveCopy = false
        /// The moment by which the call must have ended.
        var deadline: PipelineClock.Instant?
        let waiter: Waiter
    }

    /// A caller that has left before the exchange ended.
    struct Departure {
        /// The waiter to resume.
        let waiter: Waiter
        /// The work to cancel, if the caller was the last.
        let abandoned: Work?
    }

    /// An exchange in flight.
    struct Flight {
        let key: Key
        let start: PipelineClock.Instant?
        /// How much time the callers have; `nil` if the one that leads has any.
        let deadline: Stage.SharedDeadline?
        /// In the order of their numbers.
        fileprivate(set) var callers: [Caller]
        /// The exchange as one that follows a shared one, and how many do so in a row.
        fileprivate(set) var successor: Successor?
        fileprivate(set) var depth = 0
        fileprivate var work: Work?
        /// The calls that wait; `nil` until a copy arrives.
        private var calls: Set<Int>?

        fileprivate init(_ key: Key, ledBy caller: Caller, at now: PipelineClock.Instant?) {
            self.key = key
            start = now
            deadline = caller.deadline.map { Stage.SharedDeadline($0) }
            callers = [caller]
        }

        /// Adds a caller unless the limit is reached or a copy waits, and returns whether it did.
        fileprivate mutating func add(_ caller: Caller, upTo limit: Int) -> Bool {
            guard callers.count < limit, !hasCopy(of: caller) else { return false }
            // Callers arrive in order, unless one overtakes another on the way to the table.
            let index = callers.lastIndex { $0.number < caller.number }.map { $0 + 1 } ?? 0
            callers.insert(caller, at: index)
            if let call = caller.call { calls?.insert(call) }
            deadline?.extend(to: caller.deadline)
            return true
        }

        private mutating func hasCopy(of caller: Caller) -> Bool {
            guard let call = caller.call, caller.mayHaveCopy else { return false }
            let calls = calls ?? Set(callers.compactMap(\.call))
            self.calls = calls
            return calls.contains(call)
        }

        fileprivate mutating func remove(_ caller: Int) -> Caller? {
            guard let index = callers.firstIndex(where: { $0.number == caller }) else { return nil }
            let removed = callers.remove(at: index)
            if let call = removed.call { calls?.remove(call) }
            return removed
        }
    }

    private let maximumCallerCount: Int
    private let maximumExchangeCount: Int
    /// The age beyond which no caller joins an exchange; `nil` for any.
    private let maximumAge: Duration?
    private var flights: [Int: Flight] = [:]
    /// The exchanges that callers may join by their key.
    private var open: [Key: Int] = [:]
    /// The exchange that each caller waits for.
    private var places: [Int: Int] = [:]

    /// The number of times that the table was closed.
    private(set) var closeCount = 0

    init(maximumCallerCount: Int, maximumExchangeCount: Int, maximumAge: Duration? = nil) {
        self.maximumCallerCount = maximumCallerCount
        self.maximumExchangeCount = maximumExchangeCount
        self.maximumAge = maximumAge
    }

    /// The number of exchanges in flight.
    var exchangeCount: Int { flights.count }

    /// The number of callers that wait.
    var callerCount: Int { places.count }

    /// Adds a caller to the open exchange of its key, or lets it begin one.
    ///
    /// - Returns: the exchange that the caller waits for, which it begins if it has its own number; `nil` if it makes
    ///   an exchange that no other call shares, because the maximum number of exchanges is reached.
    mutating func arrive(_ caller: Caller, for key: Key, at now: PipelineClock.Instant? = nil) -> Int? {
        if let exchange = open[key], join(caller, to: exchange, at: now) { return exchange }
        guard exchangeCount < maximumExchangeCount else { return nil }
        flights[caller.number] = Flight(key, ledBy: caller, at: now)
        open[key] = caller.number
        places[caller.number] = caller.number
        return caller.number
    }

    /// Adds a caller to an exchange of its key, open or not.
    ///
    /// - Returns: whether the exchange is in flight, is not too old, and has room for the caller.
    mutating func join(_ caller: Caller, to exchange: Int, at now: PipelineClock.Instant? = nil) -> Bool {
        guard let index = flights.index(forKey: exchange) else { return false }
        if let maximumAge, let now, let start = flights.values[index].start, start.duration(to: now) > maximumAge {
            return false
        }
        guard flights.values[index].add(caller, upTo: maximumCallerCount) else { return false }
        places[caller.number] = exchange
        return true
    }

    /// Returns how much time the callers of an exchange have; `nil` if the one that leads has any.
    func deadline(of exchange: Int) -> Stage.SharedDeadline? { flights[exchange]?.deadline }

    /// Returns an exchange in flight as one that follows a shared one.
    mutating func successor(of exchange: Int, depth: Int, _ room: ResultRoom) -> Successor {
        let known = flights[exchange]
        let successor = known?.successor ?? Successor(exchange: exchange, closeCount: closeCount, room: room)
        flights[exchange]?.successor = successor
        flights[exchange]?.depth = max(known?.depth ?? 0, depth)
        return successor
    }

    /// Attaches the work of an exchange that has begun.
    ///
    /// - Returns: whether the exchange is still in flight. If it is not, cancel the work.
    mutating func attach(_ work: Work, to exchange: Int) -> Bool {
        guard let index = flights.index(forKey: exchange) else { return false }
        flights.values[index].work = work
        return true
    }

    /// Removes a caller that stops waiting.
    ///
    /// - Returns: `nil` if the caller does not wait, because its exchange has ended, it has left, or it was refused.
    mutating func leave(_ caller: Int) -> Departure? {
        guard let exchange = places.removeValue(forKey: caller), let left = flights[exchange]?.remove(caller) else {
            return nil
        }
        let isLast = flights[exchange]?.callers.isEmpty == true
        return Departure(waiter: left.waiter, abandoned: isLast ? remove(exchange)?.work : nil)
    }

    /// Removes an exchange that has ended.
    ///
    /// - Returns: the exchange with the callers to resume; `nil` if all have left.
    mutating func finish(_ exchange: Int) -> Flight? {
        let flight = remove(exchange)
        for caller in flight?.callers ?? [] { places[caller.number] = nil }
        return flight
    }

    /// Closes the exchanges in flight to further callers.
    mutating func close() {
        closeCount += 1
        open.removeAll(keepingCapacity: true)
    }

    private mutating func remove(_ exchange: Int) -> Flight? {
        guard let flight = flights.removeValue(forKey: exchange) else { return nil }
        if let index = open.index(forKey: flight.key), open.values[index] == exchange { open.remove(at: index) }
        return flight
    }
}
