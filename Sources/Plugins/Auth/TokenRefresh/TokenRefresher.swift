import Foundation
import PipelineCore
import PipelinePlugins
import Synchronization

/// Performs the effects of `TokenRefreshState`: runs refreshes and reports in tasks of their own, and suspends calls.
final class TokenRefresher<Credential: TokenCredential>: Sendable {
    typealias State = TokenRefreshState<Credential>
    typealias Refresh = @Sendable (Credential?, PipelineContext) async throws -> Credential?
    typealias OnChange = @Sendable (Credential?, TokenCredentialChange) async -> Void

    /// The next step of a call.
    enum Admission: Sendable {
        case proceed(State.Ticket?)
        case wait(Waiting)
        case fail(TokenRefreshFailure)
        case giveBack
    }

    /// A waiting call.
    struct Waiting: Sendable {
        fileprivate let id: Int
        fileprivate let waiter: TokenWaiter<State.Outcome>
    }

    /// The tasks of the refresh in progress.
    private struct Run {
        let id: Int
        let work: Task<Void, Never>
        let timer: Task<Void, Never>
    }

    private struct Shared {
        var state: State
        var waiters: [Int: TokenWaiter<State.Outcome>] = [:]
        /// The callers of `set` that wait until their change was reported, by the number of the change.
        var setters: [Int: TokenWaiter<Void>] = [:]
        var run: Run?
        /// The clock of the first call, so that instants are comparable if several providers share the credential.
        var clock: PipelineClock?
    }

    /// The work to do after the lock is released.
    private struct Deeds {
        var cancelled: [Task<Void, Never>] = []
        var filled: [(waiters: [TokenWaiter<State.Outcome>], outcome: State.Outcome)] = []
        var reports: [State.Change] = []
        var next: State.Flight?
    }

    let policy: TokenRefreshPolicy
    private let refresh: Refresh
    private let onChange: OnChange?
    private let shared: Mutex<Shared>

    init(
        credential: Credential?,
        obtainsCredential: Bool,
        policy: TokenRefreshPolicy,
        onChange: OnChange?,
        refresh: @escaping Refresh
    ) {
        self.policy = policy
        self.refresh = refresh
        self.onChange = onChange
        let state = State(
            credential: credential,
            obtainsCredential: obtainsCredential,
            reportsChanges: onChange != nil,
            policy: policy
        )
        shared = Mutex(Shared(state: state))
    }

    var credential: Credential? { shared.withLock { $0.state.credential } }

    var waitingCount: Int { shared.withLock { $0.waiters.count } }
}

// MARK: Calls

extension TokenRefresher {
    /// Admits a call that is about to be sent.
    func begin(_ patience: State.Patience, _ context: PipelineContext) -> Admission {
        let earlier = context[TicketGenerations.self][ObjectIdentifier(self)]
        let age = context.start.duration(to: context.clock.now)
        return admit(context) { state, now, date in
            state.begin(patience, age: age, after: earlier, now: now, date: date)
        }
    }

    /// Records the ticket of a call: its later attempts belong to the same session.
    func note(_ ticket: State.Ticket, _ context: PipelineContext) {
        context.update(TicketGenerations.self) { $0[ObjectIdentifier(self)] = ticket.generation }
    }

    /// Handles a response that refuses the token of a call.
    func refuse(_ ticket: State.Ticket, _ patience: State.Patience, _ context: PipelineContext) -> Admission {
        admit(context) { state, now, date in state.refuse(ticket, patience, now: now, date: date) }
    }

    /// Waits for the refresh; cancelling the waiting task ends the wait at once.
    func outcome(of waiting: Waiting) async -> State.Outcome {
        await withTaskCancellationHandler {
            await waiting.waiter.value()
        } onCancel: {
            leave(waiting)
        }
    }

    /// Ends the wait of a call; required for every waiting call that does not wait for the outcome.
    func leave(_ waiting: Waiting) {
        perform { $0.leave(waiting.id) }
    }

    /// Whether the running code is part of a refresh or of a report that calls may be waiting for.
    var isWorkingHere: Bool {
        let marks = TokenRefreshMark.current.filter { $0.refresher === self }
        guard !marks.isEmpty else { return false }
        let (flight, change) = shared.withLock { shared in
            (shared.state.isReportingFlight ? nil : shared.state.flight?.id, shared.state.reporting?.number)
        }
        return marks.contains {
            switch $0.work {
            case .refresh(let id): id == flight
            case .report(let number): number == change
            }
        }
    }

    private func admit(
        _ context: PipelineContext,
        _ event: (inout State, PipelineClock.Instant, Date) -> State.Admission
    ) -> Admission {
        let clock = shared.withLock { shared in
            let clock = shared.clock ?? context.clock
            shared.clock = clock
            return clock
        }
        // Read outside the lock, because a clock may be foreign code.
        let (now, systemNow, date) = (clock.now, ContinuousClock.now, clock.date)
        let (admission, flight) = shared.withLock { shared -> (Admission, State.Flight?) in
            shared.state.dateSessionEnd(now: now, systemNow: systemNow)
            switch event(&shared.state, now, date) {
            case .proceed(let ticket): return (.proceed(ticket), nil)
            case .fail(let failure): return (.fail(failure), nil)
            case .giveBack: return (.giveBack, nil)
            case .wait(let id, let flight):
                let waiter = TokenWaiter<State.Outcome>()
                shared.waiters[id] = waiter
                return (.wait(Waiting(id: id, waiter: waiter)), flight)
            }
        }
        if let flight { start(flight, context, clock) }
        return admission
    }
}

// MARK: Refreshes

extension TokenRefresher {
    private func start(_ flight: State.Flight, _ context: PipelineContext, _ clock: PipelineClock) {
        let timer = Task(executorPreference: context.taskExecutor) {
            guard (try? await clock.sleep(for: self.policy.timeout)) != nil else { return }
            self.perform { $0.timeUp(flight) }
        }
        let marks = TokenRefreshMark.current + [TokenRefreshMark(refresher: self, work: .refresh(flight.id))]
        let work = Task(executorPreference: context.taskExecutor) {
            let ending = await TokenRefreshMark.$current.withValue(marks) {
                await TrafficPriority.$ofTask.withValue(.high) { await self.run(flight, context) }
            }
            let (now, date) = (clock.now, clock.date)
            let next = self.perform { $0.end(flight, ending, now: now, date: date) }
            if let next { self.start(next, context, clock) }
        }
        let (isWanted, isInProgress) = shared.withLock { shared in
            let isInProgress = shared.state.flight?.id == flight.id
            if isInProgress { shared.run = Run(id: flight.id, work: work, timer: timer) }
            return (!shared.state.isCancelled(flight), isInProgress)
        }
        if !isWanted { work.cancel() }
        if !isInProgress { timer.cancel() }
    }

    private func run(_ flight: State.Flight, _ context: PipelineContext) async -> State.Ending {
        do {
            return .credential(try await refresh(flight.credential, context))
        } catch {
            return .failure(error)
        }
    }

    /// Applies an event to the state and performs its effects.
    ///
    /// - Returns: the refresh to start.
    @discardableResult
    private func perform(_ event: (inout State) -> [State.Effect]) -> State.Flight? {
        perform(event, then: { _ in }).next
    }

    /// Applies an event together with a change of the shared state, and performs its effects.
    private func perform<Value: Sendable>(
        _ event: (inout State) -> [State.Effect],
        then change: (inout Shared) -> Value
    ) -> (next: State.Flight?, value: Value) {
        let (deeds, value) = shared.withLock { shared in
            let effects = event(&shared.state)
            let deeds = Self.deeds(for: effects, &shared)
            return (deeds, change(&shared))
        }
        for task in deeds.cancelled { task.cancel() }
        for (waiters, outcome) in deeds.filled {
            for waiter in waiters { waiter.fill(outcome) }
        }
        for change in deeds.reports { report(change) }
        return (deeds.next, value)
    }

    private static func deeds(for effects: [State.Effect], _ shared: inout Shared) -> Deeds {
        var deeds = Deeds()
        for effect in effects {
            switch effect {
            case .start(let flight):
                deeds.next = flight
            case .cancel(let flight):
                if let run = shared.run, run.id == flight.id { deeds.cancelled.append(run.work) }
            case .stopTimer(let flight):
                if let run = shared.run, run.id == flight.id { deeds.cancelled.append(run.timer) }
            case .resume(let ids, let outcome):
                deeds.filled.append((ids.compactMap { shared.waiters.removeValue(forKey: $0) }, outcome))
            case .report(let change):
                deeds.reports.append(change)
            }
        }
        if shared.run?.id != shared.state.flight?.id { shared.run = nil }
        return deeds
    }
}

// MARK: Changes

extension TokenRefresher {
    /// Sets the credential and waits until the change was reported.
    ///
    /// Returns early if its task is cancelled or an earlier change is being reported, because that report may wait for
    /// the caller.
    func set(_ credential: Credential?, continuesSession: Bool) async {
        let clock = shared.withLock { $0.clock }
        let (now, systemNow, date) = (clock?.now, ContinuousClock.now, clock?.date)
        let setter = TokenWaiter<Void>()
        let change = perform {
            $0.set(credential, continuesSession: continuesSession, now: now, systemNow: systemNow, date: date)
        } then: { shared -> Int? in
            guard let change = shared.state.unreported?.number, change == shared.state.reporting?.number else {
                return nil
            }
            shared.setters[change] = setter
            return change
        }.value
        guard let change else { return }
        await withTaskCancellationHandler {
            await setter.value()
        } onCancel: {
            release(change)
        }
    }

    private func release(_ change: Int) {
        shared.withLock { $0.setters.removeValue(forKey: change) }?.fill(())
    }

    private func report(_ change: State.Change) {
        guard let onChange else { return }
        // Detached, so that the closure does not count as part of the call that caused the change.
        Task.detached {
            let mark = TokenRefreshMark(refresher: self, work: .report(change.number))
            await TokenRefreshMark.$current.withValue([mark]) { await onChange(change.credential, change.reason) }
            self.perform { $0.reported(change.number) }
            self.release(change.number)
        }
    }
}

/// The generation of the last ticket that the call had from each refresher.
private enum TicketGenerations: PipelineContextKey {
    static let defaultValue: [ObjectIdentifier: Int] = [:]
}

/// A mark for code that runs in a refresh or a report, so that its own calls do not wait for it.
struct TokenRefreshMark: Sendable {
    /// The work that the code is part of.
    enum Work: Sendable {
        case refresh(Int)
        case report(Int)
    }

    @TaskLocal static var current: [TokenRefreshMark] = []

    let refresher: any AnyObject & Sendable
    let work: Work
}
