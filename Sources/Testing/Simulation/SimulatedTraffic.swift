import PipelineCore

/// What a simulated server does with its requests, as a value without a clock: all moments come from outside.
///
/// Requests are judged in the order in which they arrive, and never before the moment of their arrival, because until
/// then another request may overtake them.
struct SimulatedTraffic {
    /// A request on its way.
    struct Ticket {
        let id: Int
        let arrival: Duration
        /// The time that the response is on its way.
        let wayBack: Duration
    }

    /// What happens to a request.
    enum Fate {
        /// The server is not in service, and the step takes its place.
        case outage(ScriptedTransport.Step)
        /// The quota is used up for this time.
        case refused(Duration)
        /// The work is complete at this moment; `nil` if it never is.
        case served(Duration?)
    }

    /// The rest of an enforced quota, after a request.
    struct Remainder {
        let count: Int
        /// The time until it grows.
        let time: Duration
    }

    /// The requests that arrived while the server was in service.
    var count: SlidingCount
    /// The requests that the quota has permitted; `nil` if it is not enforced.
    var permitted: SlidingCount?
    var queue: SimulatedQueue
    let outages: [Range<Duration>: ScriptedTransport.Step]
    let serviceTime: SimulatedServer.Timing
    let travelTime: SimulatedServer.Timing
    var serviceRandom: PipelineRandom
    /// Another sequence, so that the way of a request does not change the time of its work.
    var travelRandom: PipelineRandom
    /// The moments at which requests have arrived, in order.
    var arrivals: [Duration] = []
    /// The requests that have not been judged, the next one last.
    var travelling: [Ticket] = []
    var fates: [(fate: Fate, remainder: Remainder?)?] = []

    /// Sends a request on its way.
    mutating func send(at now: Duration) -> Ticket {
        let there = travelTime.draw(&travelRandom)
        let ticket = Ticket(id: fates.count, arrival: now + there, wayBack: travelTime.draw(&travelRandom))
        fates.append(nil)
        travelling.insert(ticket, at: travelling.partitionIndex { $0.arrival > ticket.arrival })
        return ticket
    }

    /// Judges the requests that have arrived.
    mutating func advance(to now: Duration) {
        while let ticket = travelling.last, ticket.arrival <= now {
            travelling.removeLast()
            arrivals.append(ticket.arrival)
            let fate = makeFate(at: ticket.arrival)
            fates[ticket.id] = (fate, makeRemainder(at: ticket.arrival))
        }
    }

    /// Returns what happens to a request that has arrived; `nil` before that.
    func fate(of ticket: Ticket) -> (fate: Fate, remainder: Remainder?)? { fates[ticket.id] }

    /// Returns the moments at which work was completed, in order.
    func completions(until now: Duration) -> [Duration] {
        let moments = fates.compactMap { item in
            if case .served(let end?)? = item?.fate { end } else { nil }
        }
        return moments.filter { $0 <= now }.sorted()
    }

    private mutating func makeFate(at arrival: Duration) -> Fate {
        if let outage = outages.first(where: { $0.key.contains(arrival) }) { return .outage(outage.value) }
        count.add(at: arrival)
        if let wait = permitted?.timeUntilRoom(at: arrival), wait > .zero { return .refused(wait) }
        permitted?.add(at: arrival)
        return .served(queue.add(at: arrival, taking: serviceTime.draw(&serviceRandom)))
    }

    private mutating func makeRemainder(at now: Duration) -> Remainder? {
        guard var permitted else { return nil }
        let used = permitted.count(at: now)
        defer { self.permitted = permitted }
        guard used > 0 else { return Remainder(count: permitted.limit, time: permitted.window) }
        let oldest = permitted.moments[permitted.moments.count - used]
        return Remainder(count: permitted.limit - used, time: oldest + permitted.window - now)
    }
}
