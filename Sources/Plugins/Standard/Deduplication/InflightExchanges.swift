import HTTPTypes
import PipelineCore
import Synchronization

/// The exchanges of a plugin that are in flight, and the calls that wait for them.
final class InflightExchanges: Sendable {
    /// The outcome for a call.
    enum Outcome: Sendable {
        /// The exchange has ended.
        case ended(Result<PipelineResponse, any Error>, isJoined: Bool)
        /// The call has left.
        case cancelled
        /// The call makes its own exchange.
        case refused
    }

    /// What a waiting call is resumed with.
    private struct Ticket: Sendable {
        let outcome: Outcome
        var shared: SharedOutcome?

        var isJoined: Bool {
            if case .ended(_, isJoined: true) = outcome { true } else { false }
        }
    }

    private typealias Waiter = CheckedContinuation<Ticket, Never>

    /// What an arriving call does next.
    private enum Arrival {
        case at(Table.Arrival)
        case ended(Successor.Ending)
    }

    private typealias Table = InflightTable<InflightKey, Waiter, Task<Void, Never>>

    private struct State {
        var table: Table
        /// The exchanges in flight that follow a shared one, by number.
        var successors: [Int: (successor: Successor, depth: Int)] = [:]
        /// The deadlines of the exchanges in flight whose leading call has one, by number.
        var deadlines: [Int: SharedDeadline] = [:]

        /// Notes how much time a call has that leads or joins an exchange.
        mutating func note(_ deadline: PipelineClock.Instant?, of caller: Int, _ arrival: Table.Arrival) {
            switch arrival {
            case .lead: if let deadline { deadlines[caller] = SharedDeadline(deadline) }
            case .join(let exchange): deadlines[exchange]?.extend(to: deadline)
            case .refused: break
            }
        }
    }

    /// The maximum age of an ended exchange's result when a member of a sharing group asks for it.
    static let maximumResultAge: Duration = .seconds(30)
    /// The maximum length of a chain of groups that keep each other alive.
    ///
    /// Each is released from within the one before, which uses stack space.
    static let maximumDepth = 100

    private let state: Mutex<State>
    private let room: ResultRoom
    private let lastCaller = Atomic(0)
    private let hasWarned = Atomic(false)

    init(maximumCallerCount: Int, maximumExchangeCount: Int, maximumAge: Duration? = nil) {
        let table = Table(
            maximumCallerCount: maximumCallerCount,
            maximumExchangeCount: maximumExchangeCount,
            maximumAge: maximumAge
        )
        state = Mutex(State(table: table))
        room = ResultRoom(maximumCount: maximumExchangeCount)
    }

    var exchangeCount: Int { state.withLock { $0.table.exchangeCount } }

    var callerCount: Int { state.withLock { $0.table.callerCount } }

    /// Closes the exchanges that began before to further calls, including those that have ended.
    func close() {
        state.withLock { $0.table.close() }
    }

    /// Waits for the exchange with this key, and begins one if none is in flight.
    ///
    /// A member of a sharing group gets the exchange that another member has begun or joined, even if that exchange has
    /// ended.
    func outcome(
        for key: InflightKey,
        _ request: PipelineRequest,
        _ context: PipelineContext,
        _ next: Stage.Next
    ) async -> Outcome {
        let caller = lastCaller.add(1, ordering: .relaxed).newValue
        let ticket = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                switch arrive(caller, for: key, waiter, context) {
                case .at(.lead): lead(caller, key, request, context, next)
                case .at(.join): context.sentSignal?.note()
                case .at(.refused): waiter.resume(returning: Ticket(outcome: .refused))
                case .ended(let ending):
                    let outcome = Outcome.ended(ending.result, isJoined: true)
                    waiter.resume(returning: Ticket(outcome: outcome, shared: ending.shared))
                }
                // The handler below may have run before the arrival.
                if Task.isCancelled { leave(caller, key) }
            }
        } onCancel: {
            leave(caller, key)
        }
        context.share(ticket.shared, isJoined: ticket.isJoined)
        return ticket.outcome
    }

    private func arrive(
        _ caller: Int,
        for key: InflightKey,
        _ waiter: Waiter,
        _ context: PipelineContext
    ) -> Arrival {
        let (now, deadline) = (context.clock.now, context.deadline)
        // A call may send copies of its request at the same time, which must not wait for one exchange.
        let call = Table.Call(id: context.callID, mayWait: context.attempt > 1)
        guard let shared = context.sharedOutcome, let group = shared.attachment as? SharingGroup else {
            return .at(
                state.withLock { state in
                    let arrival = state.table.arrive(caller, of: call, for: key, waiter, at: now)
                    state.note(deadline, of: caller, arrival)
                    return arrival
                }
            )
        }
        let (arrival, released) = state.withLock { state -> (Arrival, Successor?) in
            if let successor = group.successor(for: key), successor.closeCount == state.table.closeCount {
                if let ending = successor.ending {
                    let isRecent = ending.shared.end.duration(to: now) <= Self.maximumResultAge
                    if isRecent, group.allowsEndedResult(for: key, of: shared) { return (.ended(ending), nil) }
                } else if state.table.join(caller, of: call, to: successor.exchange, for: key, waiter, at: now) {
                    state.note(deadline, of: caller, .join(successor.exchange))
                    return (.at(.join(successor.exchange)), nil)
                }
            }
            let arrival = state.table.arrive(caller, of: call, for: key, waiter, at: now)
            state.note(deadline, of: caller, arrival)
            guard let exchange = arrival.exchange(of: caller), group.depth < Self.maximumDepth else {
                return (.at(arrival), nil)
            }
            let known = state.successors[exchange]
            let successor =
                known?.successor
                ?? Successor(exchange: exchange, closeCount: state.table.closeCount, room: room)
            state.successors[exchange] = (successor, max(known?.depth ?? 0, group.depth + 1))
            return (.at(arrival), group.setSuccessor(successor, for: key))
        }
        return withExtendedLifetime(released) { arrival }
    }

    /// Begins the work before the call that leads it can return, because `next` is closed afterwards.
    private func lead(
        _ caller: Int,
        _ key: InflightKey,
        _ request: PipelineRequest,
        _ context: PipelineContext,
        _ next: Stage.Next
    ) {
        let limit = context.limits.bufferedBodyByteCount
        let clock = context.clock
        let earlierExchangeCount = context.exchanges.count
        let deadline = state.withLock { $0.deadlines[caller] } ?? .unlimited
        let work = deadline.run {
            next.start(request) { result in
                let result = await Self.buffered(result, upTo: limit)
                let end = clock.now
                self.finish(caller, key, result, context) {
                    Self.isPersonal(result, key, request, after: earlierExchangeCount, context)
                } makeShared: { depth in
                    let group = SharingGroup(key: key, result: result, depth: depth)
                    return SharedOutcome(
                        endedAt: end,
                        after: earlierExchangeCount,
                        hasStaleResponse: context[StaleUse.self] == .available,
                        attachment: group
                    )
                }
            }
        }
        if !state.withLock({ $0.table.attach(work, to: caller, for: key) }) { work.cancel() }
    }

    private func leave(_ caller: Int, _ key: InflightKey) {
        let departure = state.withLock { state in
            let departure = state.table.leave(caller, for: key)
            if let end = departure?.end { state.deadlines[end] = nil }
            return departure
        }
        guard let departure else { return }
        departure.waiter.resume(returning: Ticket(outcome: .cancelled))
        departure.abandoned?.cancel()
    }

    private func finish(
        _ exchange: Int,
        _ key: InflightKey,
        _ result: Result<PipelineResponse, any Error>,
        _ context: PipelineContext,
        isPersonal: () -> Bool,
        makeShared: (_ depth: Int) -> SharedOutcome
    ) {
        let (callers, shared, isPersonal) = state.withLock {
            state -> ([(caller: Int, call: Int?, waiter: Waiter)], SharedOutcome?, Bool) in
            let callers = state.table.finish(exchange, for: key)
            if !state.deadlines.isEmpty { state.deadlines[exchange] = nil }
            let known = state.successors.removeValue(forKey: exchange)
            // Most exchanges have one caller, which shares nothing with others.
            let isShared = known != nil || callers.count > 1 || callers.first.map { $0.caller != exchange } ?? false
            guard !callers.isEmpty, isShared else { return (callers, nil, false) }
            if isPersonal() { return (callers, nil, true) }
            let shared = makeShared(known?.depth ?? 0)
            known?.successor.keep(Successor.Ending(result: result, shared: shared))
            return (callers, shared, false)
        }
        for (caller, _, waiter) in callers {
            let isJoined = caller != exchange
            let outcome = isPersonal && isJoined ? Outcome.refused : .ended(result, isJoined: isJoined)
            waiter.resume(returning: Ticket(outcome: outcome, shared: shared))
        }
        if isPersonal, callers.contains(where: { $0.caller != exchange }) { warnOnce(context) }
    }

    private func warnOnce(_ context: PipelineContext) {
        guard !hasWarned.exchange(true, ordering: .relaxed) else { return }
        context.operatorLog.warning(
            """
            DeduplicationPlugin shares no response to a request in which a plugin or transport inside it has set a \
            credential or another field that may name an account: set it outside, or call addIdentity(_:of:) in the \
            prepare stage, outside; SigningPlugin and CredentialsPlugin do this if they are given the account
            """
        )
    }

    /// Whether a result belongs to the call that leads only, because an account was named inside that no key compares.
    private static func isPersonal(
        _ result: Result<PipelineResponse, any Error>,
        _ key: InflightKey,
        _ request: PipelineRequest,
        after earlierExchangeCount: Int,
        _ context: PipelineContext
    ) -> Bool {
        let exchanges: [PipelineExchange]
        let last: PipelineRequest?
        switch result {
        case .success(let response): (exchanges, last) = (response.exchanges, response.request)
        case .failure(let error):
            let error = error as? PipelineError
            (exchanges, last) = (error?.exchanges ?? [], error?.request)
        }
        func isPersonal(_ sent: PipelineRequest) -> Bool {
            context.mayNameAccount(sent, otherThan: request)
        }
        return context.identities != key.identities || last.map(isPersonal) ?? false
            || exchanges.dropFirst(earlierExchangeCount).contains { isPersonal($0.request) }
    }

    /// Returns the result with its body in memory, so that many can read it; a plugin inside may have made it a stream.
    private static func buffered(
        _ result: Result<PipelineResponse, any Error>,
        upTo limit: Int
    ) async -> Result<PipelineResponse, any Error> {
        guard case .success(var response) = result, response.body.bytes == nil else { return result }
        do {
            response.body = .bytes(try await response.body.collect(upTo: limit))
            return .success(response)
        } catch {
            return .failure(error)
        }
    }
}
