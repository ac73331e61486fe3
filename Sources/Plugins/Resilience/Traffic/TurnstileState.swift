import PipelineCore

/// The meter and the line of a ``Turnstile``, and who drives the line.
struct TurnstileState<Meter: TrafficMeter>: Sendable {
    typealias Instant = PipelineClock.Instant

    /// What became of a call that arrived.
    enum Arrival: Sendable {
        case admitted
        case refused(TurnstileRefusal)
        case waits(id: Int, TurnstileSeat)
    }

    /// How long a call waits.
    private struct Terms: Sendable {
        /// Returns the moment by which the work of the call must have ended, and what it was when the call came.
        let deadline: @Sendable () -> Instant?
        var known: Instant?
        /// When the longest wait ends; `nil` if there is none.
        let end: Instant?
    }

    /// Signals to send after the lock is released.
    struct Signals: Sendable {
        fileprivate var list: [(TurnstileSeat, TurnstileSeat.Signal)] = []

        func send() {
            for (seat, signal) in list { seat.send(signal) }
        }
    }

    var meter: Meter
    private(set) var line: WaitingLine
    private var seats: [Int: (seat: TurnstileSeat, terms: Terms)] = [:]
    private var lastID = 0
    private var latest: Instant?
    private var driver: Int?
    /// The moment until which the driver sleeps.
    private var alarm: Instant?

    init(meter: Meter, line: WaitingLine) {
        self.meter = meter
        self.line = line
    }

    /// Returns whether no call waits and the meter is idle.
    mutating func isIdle(at moment: Instant) -> Bool {
        let now = advance(to: moment)
        return line.isEmpty && meter.isIdle(at: now)
    }

    /// Takes permits if no call waits for any.
    mutating func takeAtOnce(_ cost: Int, before deadline: Instant?, at moment: Instant) -> Bool {
        guard line.isEmpty else { return false }
        let now = advance(to: moment)
        if let deadline, now.advanced(by: meter.leadTime(ofWaiting: false)) >= deadline { return false }
        guard meter.availability(of: cost, at: now, waiting: 1) == .now else { return false }
        meter.take(cost, at: now)
        return true
    }

    /// Admits or refuses a call, or adds it to the line.
    mutating func arrive(
        _ cost: Int,
        _ priority: TrafficPriority,
        before deadline: @escaping @Sendable () -> Instant?,
        within maximumWait: Duration?,
        at moment: Instant
    ) -> (Arrival, Signals) {
        let now = advance(to: moment)
        let known = deadline()
        let remaining = known.map { now.duration(to: $0) }
        if let remaining, remaining <= meter.leadTime(ofWaiting: false) {
            return (.refused(.init(reason: .tooLate)), Signals())
        }
        var signals = serve(at: now)
        let availability = meter.availability(of: cost, at: now, waiting: line.count + 1)
        if line.isEmpty, availability == .now {
            meter.take(cost, at: now)
            return (.admitted, signals)
        }
        let patience = [remaining.map { $0 - leadTime(within: $0) }, maximumWait].compactMap(\.self).min()
        if maximumWait == .zero, availability != .never {
            return (.refused(.init(reason: .mustNotWait, wait: availability.wait(from: now))), signals)
        }
        if let refusal = refusal(of: availability, at: now, patience) { return (.refused(refusal), signals) }
        lastID += 1
        let lastMoment = patience.map { now.advanced(by: $0) }
        let ticket = WaitingLine.Ticket(id: lastID, cost: cost, priority: priority, deadline: lastMoment)
        // The next permit belongs to another call.
        let full = TurnstileRefusal(reason: .full)
        switch line.add(ticket) {
        case .refused: return (.refused(full), signals)
        case .replaced(let other): end(other.id, .refused(full), &signals)
        case .added: break
        }
        let seat = TurnstileSeat()
        seats[ticket.id] = (
            seat, Terms(deadline: deadline, known: known, end: maximumWait.map { now.advanced(by: $0) })
        )
        signals.list += serve(at: now).list
        return (.waits(id: ticket.id, seat), signals)
    }

    /// Returns how long before its deadline a waiting call needs its permits.
    ///
    /// It is at most half of the time that is left, or else widely varying latencies would refuse all calls.
    private func leadTime(within remaining: Duration) -> Duration {
        max(meter.leadTime(ofWaiting: false), min(meter.leadTime(ofWaiting: true), remaining / 2))
    }

    /// Returns why a call must not wait for its permits; `nil` if it may.
    private func refusal(
        of availability: MeterAvailability,
        at now: Instant,
        _ patience: Duration?
    ) -> TurnstileRefusal? {
        let wait = availability.wait(from: now)
        if availability == .never { return TurnstileRefusal(reason: .tooCostly) }
        guard let patience else { return nil }
        return (wait ?? .zero) >= patience ? TurnstileRefusal(reason: .tooLate, wait: wait) : nil
    }

    /// Refuses the calls whose deadline has come, admits those that have permits, and sets the alarm for the others.
    mutating func serve(at moment: Instant) -> Signals {
        var signals = Signals()
        guard !line.isEmpty else { return signals }
        let now = advance(to: moment)
        for ticket in line.removeExpired(at: now) where !extend(ticket, at: now) {
            end(ticket.id, .refused(.init(reason: .tooLate)), &signals)
        }
        var wake: Instant?
        serving: while let ticket = line.first {
            switch meter.availability(of: ticket.cost, at: now, waiting: line.count) {
            case .now:
                meter.take(ticket.cost, at: now)
                line.serve(ticket)
                end(ticket.id, .admitted(at: now), &signals)
            case .never:
                line.remove(ticket.id)
                end(ticket.id, .refused(.init(reason: .tooCostly)), &signals)
            case .at(let permit):
                wake = permit
                break serving
            case .afterChange: break serving
            }
        }
        if let deadline = line.earliestDeadline { wake = wake.map { min($0, deadline) } ?? deadline }
        setAlarm(wake, &signals)
        return signals
    }

    /// Puts a call back into its place if it has more time than when it came; returns whether it has.
    private mutating func extend(_ ticket: WaitingLine.Ticket, at now: Instant) -> Bool {
        guard let terms = seats[ticket.id]?.terms, let known = terms.known, terms.end.map({ $0 > now }) ?? true else {
            return false
        }
        let deadline = terms.deadline()
        if let deadline, deadline <= known { return false }
        seats[ticket.id]?.terms.known = deadline
        let remaining = deadline.map { now.duration(to: $0) }
        let patience = [remaining.map { $0 - leadTime(within: $0) }, terms.end.map { now.duration(to: $0) }]
            .compactMap(\.self).min()
        if let patience, patience <= .zero { return false }
        var ticket = ticket
        ticket.deadline = patience.map { now.advanced(by: $0) }
        return line.add(ticket) == .added
    }

    /// Serves the line when an alarm has gone off.
    mutating func ring(_ moment: Instant, at now: Instant) -> Signals {
        if alarm == moment { alarm = nil }
        return serve(at: now)
    }

    /// Removes a call that waits no longer, unless it was admitted or refused before.
    mutating func leave(_ id: Int, _ reason: TurnstileRefusal.Reason = .cancelled, at now: Instant) -> Signals {
        guard line.remove(id) else { return Signals() }
        var signals = Signals()
        end(id, .refused(.init(reason: reason)), &signals)
        signals.list += serve(at: now).list
        return signals
    }

    /// Returns the moment until which a call has to sleep, `nil` if it does not drive the line.
    func alarm(of id: Int) -> Instant? { driver == id ? alarm : nil }

    private mutating func end(_ id: Int, _ signal: TurnstileSeat.Signal, _ signals: inout Signals) {
        if let seat = seats.removeValue(forKey: id)?.seat { signals.list.append((seat, signal)) }
        guard driver == id else { return }
        driver = nil
        alarm = nil
    }

    /// Has the driver sleep until a moment; it may wake earlier, but not later.
    private mutating func setAlarm(_ wake: Instant?, _ signals: inout Signals) {
        guard let wake else { return }
        // The last call in the line is likely to drive for the longest time.
        guard let driver = driver ?? line.last?.id, let seat = seats[driver]?.seat else { return }
        self.driver = driver
        if let alarm, alarm <= wake { return }
        alarm = wake
        signals.list.append((seat, .alarm))
    }

    /// Returns the latest moment seen, because calls read the clock before they hold the lock.
    private mutating func advance(to moment: Instant) -> Instant {
        let now = latest.map { max($0, moment) } ?? moment
        latest = now
        return now
    }
}
