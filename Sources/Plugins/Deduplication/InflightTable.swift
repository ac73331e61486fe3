/// Which calls share which exchange: events in, what is to be done out.
///
/// An exchange is in flight from the arrival of the call that leads it until it ends or its last caller has left. It is open to
/// more callers until it is closed, full, or no longer in flight; at most one of each key is open. Callers and exchanges have
/// numbers: that of an exchange is the number of the caller that leads it.
struct InflightTable<Key: Hashable, Waiter, Work> {
    /// What a caller is to do.
    enum Arrival: Equatable {
        /// Begin the exchange that has the caller's number, then wait.
        case lead
        /// Wait for the exchange that has this number.
        case join(Int)
        /// Have an exchange that nobody shares: there are as many as there may be.
        case refused

        /// The number of the exchange that a caller waits for; `nil` if it does not wait.
        func exchange(of caller: Int) -> Int? {
            switch self {
            case .lead: caller
            case .join(let exchange): exchange
            case .refused: nil
            }
        }
    }

    /// A caller that has left before the answer came.
    struct Departure {
        /// Whom to tell.
        let waiter: Waiter
        /// The work to cancel, when the caller was the last.
        let abandoned: Work?
    }

    private struct Exchange {
        let number: Int
        var work: Work?
        /// In the order of their callers.
        var waiters: [(caller: Int, waiter: Waiter)]

        init(ledBy caller: Int, _ waiter: Waiter) {
            number = caller
            waiters = [(caller, waiter)]
        }

        /// Adds a caller, unless there are as many as there may be.
        mutating func add(_ caller: Int, _ waiter: Waiter, upTo limit: Int) -> Bool {
            guard waiters.count < limit else { return false }
            // Callers come in order, except for those that overtake each other on their way to the table.
            let index = waiters.lastIndex { $0.caller < caller }.map { $0 + 1 } ?? 0
            waiters.insert((caller, waiter), at: index)
            return true
        }

        mutating func remove(_ caller: Int) -> Waiter? {
            var range = waiters.indices
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                let found = waiters[middle].caller
                if found == caller { return waiters.remove(at: middle).waiter }
                range = found < caller ? middle + 1..<range.upperBound : range.lowerBound..<middle
            }
            return nil
        }
    }

    private let maximumCallerCount: Int
    private let maximumExchangeCount: Int
    private var open: [Key: Exchange] = [:]
    /// Exchanges in flight that only callers with their number may join.
    private var closed: [Int: Exchange] = [:]

    /// How often the table was closed.
    private(set) var closeCount = 0
    /// How many callers wait.
    private(set) var callerCount = 0

    init(maximumCallerCount: Int, maximumExchangeCount: Int) {
        self.maximumCallerCount = maximumCallerCount
        self.maximumExchangeCount = maximumExchangeCount
    }

    /// How many exchanges are in flight.
    var exchangeCount: Int { open.count + closed.count }

    /// Adds a caller to the exchange of its key that is open, or lets it begin one.
    mutating func arrive(_ caller: Int, for key: Key, _ waiter: Waiter) -> Arrival {
        if let index = open.index(forKey: key), open.values[index].add(caller, waiter, upTo: maximumCallerCount) {
            callerCount += 1
            return .join(open.values[index].number)
        }
        guard exchangeCount < maximumExchangeCount else { return .refused }
        if let full = open.updateValue(Exchange(ledBy: caller, waiter), forKey: key) { closed[full.number] = full }
        callerCount += 1
        return .lead
    }

    /// Adds a caller to an exchange of its key, open or not.
    ///
    /// - Returns: whether the exchange is in flight and has room for the caller.
    mutating func join(_ caller: Int, to exchange: Int, for key: Key, _ waiter: Waiter) -> Bool {
        let isAdded: Bool
        if let index = open.index(forKey: key), open.values[index].number == exchange {
            isAdded = open.values[index].add(caller, waiter, upTo: maximumCallerCount)
        } else if let index = closed.index(forKey: exchange) {
            isAdded = closed.values[index].add(caller, waiter, upTo: maximumCallerCount)
        } else {
            isAdded = false
        }
        if isAdded { callerCount += 1 }
        return isAdded
    }

    /// An exchange has begun.
    ///
    /// - Returns: whether it is still in flight; when it is not, the work is to be cancelled.
    mutating func attach(_ work: Work, to exchange: Int, for key: Key) -> Bool {
        if let index = open.index(forKey: key), open.values[index].number == exchange {
            open.values[index].work = work
            return true
        }
        guard let index = closed.index(forKey: exchange) else { return false }
        closed.values[index].work = work
        return true
    }

    /// A caller does not want to wait any longer.
    ///
    /// - Returns: `nil` when it does not wait: it has its answer, has left, or was refused.
    mutating func leave(_ caller: Int, for key: Key) -> Departure? {
        if let index = open.index(forKey: key), let waiter = open.values[index].remove(caller) {
            callerCount -= 1
            let isLast = open.values[index].waiters.isEmpty
            return Departure(waiter: waiter, abandoned: isLast ? open.remove(at: index).value.work : nil)
        }
        for index in closed.indices {
            guard let waiter = closed.values[index].remove(caller) else { continue }
            callerCount -= 1
            let isLast = closed.values[index].waiters.isEmpty
            return Departure(waiter: waiter, abandoned: isLast ? closed.remove(at: index).value.work : nil)
        }
        return nil
    }

    /// An exchange has ended.
    ///
    /// - Returns: the callers to answer, in the order of their numbers; none when all have left.
    mutating func finish(_ exchange: Int, for key: Key) -> [(caller: Int, waiter: Waiter)] {
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

    /// Closes the exchanges that are in flight to further callers.
    mutating func close() {
        closeCount += 1
        guard !open.isEmpty else { return }
        for exchange in open.values { closed[exchange.number] = exchange }
        open = [:]
    }
}
