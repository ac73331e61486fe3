import PipelineCore

/// The meter and the waiting calls of a ``PermitQueue``, and which of them drives it.
struct PermitQueueState<Meter: TrafficMeter>: Sendable {
    typealias Instant = PipelineClock.Instant

    /// What became of a call that arrived.
    enum Arrival: Sendable {
        case admitted
        case refused(PermitRefusal)
        case waits(id: Int)
    }

    /// A call that waits, until it has taken its last signal.
    private struct Waiter: Sendable {
        /// Returns the moment by which the work of the call must have ended, and what it was when the call came.
        let deadline: @Sendable () -> Instant?
        var known: Instant?
        /// When the longest wait ends; `nil` if there is none.
        let end: Instant?
        /// The task, if it waits for a signal, or else the signal that it has not seen.
        var continuation: CheckedContinuation<PermitSignal, Never>?
        var pending: PermitSignal?
    }

    /// Signals to send after the lock is released.
    struct Signals: Sendable {
        fileprivate var list: [(CheckedContinuation<PermitSignal, Never>, PermitSignal)] = []

        func send() {
            for (continuation, signal) in list { continuation.resume(returning: signal) }
        }
    }

    var meter: Meter
    private var queue: WaitQueue
    private var waiters: [Int: Waiter] = [:]
    private var lastID = 0
    private var latest: Instant?
    private var driver: Int?
    /// The moment until which the driver sleeps.
    private var alarm: Instant?

    init(meter: Meter, maximumWaitingCount: Int) {
        self.meter = meter
        queue = WaitQueue(maximumCount: maximumWaitingCount)
    }

    /// The number of waiting calls.
    var waitingCount: Int { queue.count }

    /// Returns whether no call waits and the meter is idle.
    mutating func isIdle(at moment: Instant) -> Bool {
        let now = advance(to: moment)
        return queue.isEmpty && meter.isIdle(at: now)
    }

    /// Takes permits if no call waits for any.
    mutating func takeAtOnce(_ cost: Int, before deadline: Instant?, at moment: Instant) -> Bool {
        guard queue.isEmpty else { return false }
        let now = advance(to: moment)
        if let deadline, now.advanced(by: meter.leadTime(ofWaiting: false)) >= deadline { return false }
        guard meter.availability(of: cost, at: now, waiting: 1) == .now else { return false }
        meter.take(cost, at: now)
        return true
    }

    /// Admits or refuses a call, or adds it to the queue.
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
        let availability = meter.availability(of: cost, at: now, waiting: queue.count + 1)
        if queue.isEmpty, availability == .now {
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
        let ticket = WaitQueue.Ticket(id: lastID, cost: cost, priority: priority, deadline: lastMoment)
        // The next permit belongs to another call.
        let full = PermitRefusal(reason: .full)
        switch queue.add(ticket) {
        case .refused: return (.refused(full), signals)
        case .replaced(let other): end(other.id, .refused(full), &signals)
        case .added: break
        }
        let last = maximumWait.map { now.advanced(by: $0) }
        waiters[ticket.id] = Waiter(deadline: deadline, known: known, end: last)
        signals.list += serve(at: now).list
        return (.waits(id: ticket.id), signals)
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
    ) -> PermitRefusal? {
        let wait = availability.wait(from: now)
        if availability == .never { return PermitRefusal(reason: .tooCostly) }
        guard let patience else { return nil }
        return (wait ?? .zero) >= patience ? PermitRefusal(reason: .tooLate, wait: wait) : nil
    }

    /// Refuses the calls whose deadline has come, admits those that have permits, and sets the alarm for the others.
    mutating func serve(at moment: Instant) -> Signals {
        var signals = Signals()
        guard !queue.isEmpty else { return signals }
        let now = advance(to: moment)
        for ticket in queue.removeExpired(at: now) where !extend(ticket, at: now) {
            end(ticket.id, .refused(.init(reason: .tooLate)), &signals)
        }
        var wake: Instant?
        serving: while let ticket = queue.first {
            switch meter.availability(of: ticket.cost, at: now, waiting: queue.count) {
            case .now:
                meter.take(ticket.cost, at: now)
                queue.serve(ticket)
                end(ticket.id, .admitted(at: now), &signals)
            case .never:
                queue.remove(ticket.id)
                end(ticket.id, .refused(.init(reason: .tooCostly)), &signals)
            case .at(let permit):
                wake = permit
                break serving
            case .afterChange: break serving
            }
        }
        if let deadline = queue.earliestDeadline { wake = wake.map { min($0, deadline) } ?? deadline }
        setAlarm(wake, &signals)
        return signals
    }

    /// Puts a call back into its place if it has more time than when it came; returns whether it has.
    private mutating func extend(_ ticket: WaitQueue.Ticket, at now: Instant) -> Bool {
        guard let waiter = waiters[ticket.id], let known = waiter.known, waiter.end.map({ $0 > now }) ?? true else {
            return false
        }
        let deadline = waiter.deadline()
        if let deadline, deadline <= known { return false }
        waiters[ticket.id]?.known = deadline
        let remaining = deadline.map { now.duration(to: $0) }
        let patience = [remaining.map { $0 - leadTime(within: $0) }, waiter.end.map { now.duration(to: $0) }]
            .compactMap(\.self).min()
        if let patience, patience <= .zero { return false }
        var ticket = ticket
        ticket.deadline = patience.map { now.advanced(by: $0) }
        return queue.add(ticket) == .added
    }

    /// Serves the queue when an alarm has gone off.
    mutating func ring(_ moment: Instant, at now: Instant) -> Signals {
        if alarm == moment { alarm = nil }
        return serve(at: now)
    }

    /// Removes a call that waits no longer, unless it was admitted or refused before.
    mutating func leave(_ id: Int, _ reason: PermitRefusal.Reason, at now: Instant) -> Signals {
        guard queue.remove(id) else { return Signals() }
        var signals = Signals()
        end(id, .refused(.init(reason: reason)), &signals)
        signals.list += serve(at: now).list
        return signals
    }

    /// Returns the moment until which a call has to sleep, `nil` if it does not drive the queue.
    func alarm(of id: Int) -> Instant? { driver == id ? alarm : nil }

    private mutating func end(_ id: Int, _ signal: PermitSignal, _ signals: inout Signals) {
        send(signal, to: id, &signals)
        guard driver == id else { return }
        driver = nil
        alarm = nil
    }

    /// Has the driver sleep until a moment; it may wake earlier, but not later.
    private mutating func setAlarm(_ wake: Instant?, _ signals: inout Signals) {
        guard let wake else { return }
        // The last call in the queue is likely to drive for the longest time.
        guard let driver = driver ?? queue.last?.id else { return }
        self.driver = driver
        if let alarm, alarm <= wake { return }
        alarm = wake
        send(.alarm, to: driver, &signals)
    }

    /// Sends a signal; a final one replaces an alarm that the task has not seen.
    private mutating func send(_ signal: PermitSignal, to id: Int, _ signals: inout Signals) {
        if let continuation = waiters[id]?.continuation.take() {
            signals.list.append((continuation, signal))
            if signal != .alarm { waiters[id] = nil }
        } else {
            waiters[id]?.pending = signal
        }
    }

    /// Returns the signal that a call has not seen; without one, its task is resumed with the next signal.
    mutating func takeSignal(
        to id: Int,
        orResume continuation: CheckedContinuation<PermitSignal, Never>
    ) -> PermitSignal? {
        guard let pending = waiters[id]?.pending.take() else {
            waiters[id]?.continuation = continuation
            return nil
        }
        if pending != .alarm { waiters[id] = nil }
        return pending
    }

    /// Returns the latest moment seen, because calls read the clock before they hold the lock.
    private mutating func advance(to moment: Instant) -> Instant {
        let now = latest.map { max($0, moment) } ?? moment
        latest = now
        return now
    }
}
