/// Which calls share which exchange: events in, what is to be done out.
///
/// An exchange is in flight from the arrival of the call that leads it until it ends or its last caller has left. It is open to
/// more callers until it is closed, full, or no longer in flight; at most one of each key is open. Callers and exchanges have
/// numbers: that of an exchange is the number of the caller that leads it.
struct InflightTable<Key: Hashable, Waiter, Work> {
    /// What a caller is to do.
    enum Arrival {
        /// Begin the exchange that has the caller's number, then wait.
        case lead
        /// Wait.
        case join
        /// Have an exchange that nobody shares: there are as many as there may be.
        case refused
    }

    /// A caller that has left before the answer came.
    struct Departure {
        /// Whom to tell.
        let waiter: Waiter
        /// The work to cancel, when the caller was the last.
        let abandoned: Work?
    }

    private struct Exchange {
        let key: Key
        var work: Work?
        var waiters: [Int: Waiter]
    }

    private let maximumCallerCount: Int
    private let maximumExchangeCount: Int
    private var exchanges: [Int: Exchange] = [:]
    private var open: [Key: Int] = [:]
    private var seats: [Int: Int] = [:]

    /// How often the table was closed.
    private(set) var closeCount = 0

    init(maximumCallerCount: Int, maximumExchangeCount: Int) {
        self.maximumCallerCount = maximumCallerCount
        self.maximumExchangeCount = maximumExchangeCount
    }

    /// How many exchanges are in flight.
    var exchangeCount: Int { exchanges.count }

    /// How many callers wait.
    var callerCount: Int { seats.count }

    /// The exchange for which a caller waits; `nil` if it does not wait.
    func exchange(of caller: Int) -> Int? { seats[caller] }

    /// Adds a caller to the exchange of its key that is open, or lets it begin one.
    mutating func arrive(_ caller: Int, for key: Key, _ waiter: Waiter) -> Arrival {
        if let exchange = open[key], join(caller, to: exchange, waiter) { return .join }
        guard exchanges.count < maximumExchangeCount else { return .refused }
        exchanges[caller] = Exchange(key: key, work: nil, waiters: [caller: waiter])
        open[key] = caller
        seats[caller] = caller
        return .lead
    }

    /// Adds a caller to an exchange, open or not.
    ///
    /// - Returns: whether the exchange is in flight and has room for the caller.
    mutating func join(_ caller: Int, to exchange: Int, _ waiter: Waiter) -> Bool {
        guard let count = exchanges[exchange]?.waiters.count, count < maximumCallerCount else { return false }
        exchanges[exchange]?.waiters[caller] = waiter
        seats[caller] = exchange
        return true
    }

    /// An exchange has begun.
    ///
    /// - Returns: whether it is still in flight; when it is not, the work is to be cancelled.
    mutating func attach(_ work: Work, to exchange: Int) -> Bool {
        guard exchanges[exchange] != nil else { return false }
        exchanges[exchange]?.work = work
        return true
    }

    /// A caller does not want to wait any longer.
    ///
    /// - Returns: `nil` when it does not wait: it has its answer, has left, or was refused.
    mutating func leave(_ caller: Int) -> Departure? {
        guard let exchange = seats.removeValue(forKey: caller),
            let waiter = exchanges[exchange]?.waiters.removeValue(forKey: caller)
        else { return nil }
        let isLast = exchanges[exchange]?.waiters.isEmpty ?? true
        return Departure(waiter: waiter, abandoned: isLast ? remove(exchange)?.work : nil)
    }

    /// An exchange has ended.
    ///
    /// - Returns: the callers to answer, in the order of their numbers; none when all have left.
    mutating func finish(_ exchange: Int) -> [(caller: Int, waiter: Waiter)] {
        guard let ended = remove(exchange) else { return [] }
        for caller in ended.waiters.keys { seats[caller] = nil }
        return ended.waiters.sorted { $0.key < $1.key }.map { (caller: $0.key, waiter: $0.value) }
    }

    /// Closes the exchanges that are in flight to further callers.
    mutating func close() {
        open = [:]
        closeCount += 1
    }

    private mutating func remove(_ exchange: Int) -> Exchange? {
        guard let removed = exchanges.removeValue(forKey: exchange) else { return nil }
        if open[removed.key] == exchange { open[removed.key] = nil }
        return removed
    }
}
