import HTTPTypes
import PipelineCore
import Synchronization

/// The exchanges of a plugin that are in flight, and the calls that wait for them.
final class InflightExchanges: Sendable {
    /// The outcome for a call.
    enum Outcome: Sendable {
        /// The exchange has ended, and calls may share how.
        case ended(Result<PipelineResponse, any Error>, isJoined: Bool, Stage.SharedOutcome?)
        /// The call has left.
        case cancelled
        /// The call makes its own exchange.
        case refused
    }

    private typealias Table = InflightTable<InflightKey, CheckedContinuation<Outcome, Never>, Task<Void, Never>>

    /// The maximum age of an ended exchange's result when a member of a sharing group asks for it.
    static let maximumResultAge: Duration = .seconds(30)
    /// The maximum length of a chain of groups that keep each other alive.
    ///
    /// Each is released from within the one before, which uses stack space.
    static let maximumDepth = 100

    private let table: Mutex<Table>
    private let room: ResultRoom
    private let lastCaller = Atomic(0)
    private let hasWarned = Atomic(false)

    init(maximumCallerCount: Int, maximumExchangeCount: Int, maximumAge: Duration? = nil) {
        table = Mutex(
            Table(
                maximumCallerCount: maximumCallerCount,
                maximumExchangeCount: maximumExchangeCount,
                maximumAge: maximumAge
            )
        )
        room = ResultRoom(maximumCount: maximumExchangeCount)
    }

    var exchangeCount: Int { table.withLock { $0.exchangeCount } }

    var callerCount: Int { table.withLock { $0.callerCount } }

    /// Closes the exchanges that began before to further calls, including those that have ended.
    func close() { table.withLock { $0.close() } }

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
        let number = lastCaller.add(1, ordering: .relaxed).newValue
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let caller = Table.Caller(
                    number: number,
                    call: context.callID,
                    // A call may send copies of its request at the same time, which must not wait for one exchange.
                    mayHaveCopy: context.attempt > 1,
                    deadline: context.deadline,
                    waiter: waiter
                )
                let exchange = arrive(caller, for: key, context)
                if exchange == number {
                    lead(number, request, context, next)
                } else if exchange != nil {
                    context.sentSignal?.note()
                }
                // The handler below may have run before the arrival.
                if Task.isCancelled { leave(number) }
            }
        } onCancel: {
            leave(number)
        }
        if case .ended(_, let isJoined, let shared) = outcome {
            context.share(shared, isJoined: isJoined)
        } else {
            context.share(nil)
        }
        return outcome
    }

    /// Returns the exchange that a caller waits for, or resumes it.
    private func arrive(_ caller: Table.Caller, for key: InflightKey, _ context: PipelineContext) -> Int? {
        let now = context.clock.now
        let shared = context.sharedOutcome
        let group = shared?.attachment as? SharingGroup
        let (exchange, ending, released) = table.withLock { table -> (Int?, Successor.Ending?, Successor?) in
            if let shared, let successor = group?.successor(for: key), successor.closeCount == table.closeCount {
                if let ending = successor.ending {
                    let isRecent = ending.shared.end.duration(to: now) <= Self.maximumResultAge
                    if isRecent, group?.allowsEndedResult(for: key, of: shared) == true { return (nil, ending, nil) }
                } else if table.join(caller, to: successor.exchange, at: now) {
                    return (successor.exchange, nil, nil)
                }
            }
            let exchange = table.arrive(caller, for: key, at: now)
            guard let exchange, let group, group.depth < Self.maximumDepth else { return (exchange, nil, nil) }
            let successor = table.successor(of: exchange, depth: group.depth + 1, room)
            return (exchange, nil, group.setSuccessor(successor, for: key))
        }
        return withExtendedLifetime(released) {
            if exchange == nil {
                let ended = ending.map { Outcome.ended($0.result, isJoined: true, $0.shared) }
                caller.waiter.resume(returning: ended ?? .refused)
            }
            return exchange
        }
    }

    /// Begins the work before the call that leads it can return, because `next` is closed afterwards.
    private func lead(
        _ exchange: Int,
        _ request: PipelineRequest,
        _ context: PipelineContext,
        _ next: Stage.Next
    ) {
        let limit = context.limits.bufferedBodyByteCount
        let earlierExchangeCount = context.exchanges.count
        let deadline = table.withLock { $0.deadline(of: exchange) } ?? .unlimited
        let work = deadline.run {
            next.start(request) { result in
                let result = await Self.buffered(result, upTo: limit)
                self.finish(exchange, result, request, after: earlierExchangeCount, context)
            }
        }
        if !table.withLock({ $0.attach(work, to: exchange) }) { work.cancel() }
    }

    private func leave(_ caller: Int) {
        guard let departure = table.withLock({ $0.leave(caller) }) else { return }
        departure.waiter.resume(returning: .cancelled)
        departure.abandoned?.cancel()
    }

    private func finish(
        _ exchange: Int,
        _ result: Result<PipelineResponse, any Error>,
        _ request: PipelineRequest,
        after earlierExchangeCount: Int,
        _ context: PipelineContext
    ) {
        let end = context.clock.now
        let (flight, shared, isPersonal) = table.withLock { table -> (Table.Flight?, Stage.SharedOutcome?, Bool) in
            // Most exchanges have one caller, which shares nothing with others.
            guard let flight = table.finish(exchange) else { return (nil, nil, false) }
            guard flight.successor != nil || flight.callers.contains(where: { $0.number != exchange }) else {
                return (flight, nil, false)
            }
            if Self.isPersonal(result, flight.key, request, after: earlierExchangeCount, context) {
                return (flight, nil, true)
            }
            let shared = Stage.SharedOutcome(
                endedAt: end,
                after: earlierExchangeCount,
                hasStaleResponse: context[Stage.StaleUse.self] == .available,
                attachment: SharingGroup(key: flight.key, result: result, depth: flight.depth)
            )
            flight.successor?.keep(Successor.Ending(result: result, shared: shared))
            return (flight, shared, false)
        }
        for caller in flight?.callers ?? [] {
            let isJoined = caller.number != exchange
            if isPersonal, isJoined { warnOnce(context) }
            caller.waiter.resume(
                returning: isPersonal && isJoined ? .refused : .ended(result, isJoined: isJoined, shared)
            )
        }
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
