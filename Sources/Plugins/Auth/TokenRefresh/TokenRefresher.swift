import Foundation
import PipelineCore
import PipelinePlugins
import Synchronization

/// Performs the effects of `TokenRefreshState`: runs refreshes and reports in tasks of their own, and suspends calls.
final class TokenRefresher<Credential: TokenCredential>: Sendable {
    typealias State = TokenRefreshState<Credential>
    typealias Refresh = @Sendable (Credential?, PipelineContext) async throws -> Credential?
    typealias OnChange = @Sendable (Credential?, TokenCredentialChange) async -> Void

    private struct Shared {
        var state: State
        /// The tasks of the refresh in the slot.
        var tasks: (refresh: Task<Credential?, any Error>, timer: Task<Void, Never>)?
        /// The clock of the first call, so that instants are comparable if several providers share the credential.
        var clock: PipelineClock?
        var watchers: [Int: AsyncStream<TokenRefreshPlugin<Credential>.Change>.Continuation] = [:]
        var watcherCount = 0
        /// The last response to a call of the refresh in progress, in words.
        var answer: String?
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

    deinit {
        for watcher in shared.withLock({ $0.watchers.values }) { watcher.finish() }
    }

    var credential: Credential? { shared.withLock { $0.state.credential } }

    var waitingCount: Int { shared.withLock { $0.state.waitingCount } }

    /// The current credential and each later change.
    var changes: AsyncStream<TokenRefreshPlugin<Credential>.Change> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id = shared.withLock { shared in
                shared.watcherCount += 1
                shared.watchers[shared.watcherCount] = continuation
                continuation.yield(.init(credential: shared.state.credential, reason: nil))
                return shared.watcherCount
            }
            continuation.onTermination = { [weak self] _ in
                self?.shared.withLock { _ = $0.watchers.removeValue(forKey: id) }
            }
        }
    }

    /// Applies an event to the state and performs its effects.
    ///
    /// - Parameters:
    ///   - context: the context of the call that may start a refresh.
    ///   - event: the event.
    /// - Returns: the result of the event.
    @discardableResult
    private func perform<Value: Sendable>(
        for context: PipelineContext? = nil,
        _ event: (inout State) -> Value
    ) -> Value {
        let (value, effects, tasks) = shared.withLock { shared in
            let value = event(&shared.state)
            let effects = shared.state.takeEffects()
            // Under the lock, so that the changes keep their order.
            if let change = effects.change { for watcher in shared.watchers.values { watcher.yield(change) } }
            return (value, effects, shared.tasks)
        }
        if effects.cancelsRefresh { tasks?.refresh.cancel() }
        if effects.stopsTimer { tasks?.timer.cancel() }
        for waiter in effects.resumed { waiter.fill(effects.outcome) }
        if let change = effects.report { report(change) }
        if let flight = effects.start, let context {
            Task(executorPreference: context.clock.taskExecutor) { await self.run(flight, context) }
        }
        return value
    }
}

// MARK: Calls

extension TokenRefresher {
    /// Admits a call that is about to be sent.
    func begin(_ patience: State.Patience, _ context: PipelineContext) -> State.Admission {
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
    func refuse(_ ticket: State.Ticket, _ patience: State.Patience, _ context: PipelineContext) -> State.Admission {
        admit(context) { state, now, date in state.refuse(ticket, patience, now: now, date: date) }
    }

    /// Waits for the refresh; cancelling the waiting task ends the wait at once.
    func outcome(of waiter: State.Waiter) async -> State.Outcome {
        await waiter.value { leave(waiter) }
    }

    /// Ends the wait of a call; required for every waiting call that does not wait for the outcome.
    func leave(_ waiter: State.Waiter) {
        perform { $0.leave(waiter) }
    }

    /// Whether the running code is part of a refresh or of a report that calls may be waiting for.
    var isWorkingHere: Bool {
        let marks = TokenRefreshMark.current.filter { $0.refresher === self }
        return !marks.isEmpty && shared.withLock { shared in marks.contains { shared.state.isWorking($0.id) } }
    }

    /// Takes note of a response that a refresh or a report got, for the error of the calls that fail because of it.
    func note(_ response: PipelineResponse) {
        let request = response.request
        let text = "\(request.method) \(Redactor.standard.url(of: request)): \(response.statusCode)"
        shared.withLock { $0.answer = text }
    }

    private func admit(
        _ context: PipelineContext,
        _ event: (inout State, PipelineClock.Instant, Date) -> State.Admission
    ) -> State.Admission {
        let clock = clock(context)
        // Read outside the lock, because a clock may be foreign code.
        let (now, systemNow, date) = (clock.now, ContinuousClock.now, clock.date)
        return perform(for: context) { state in
            state.dateSessionEnd(now: now, systemNow: systemNow)
            return event(&state, now, date)
        }
    }

    private func clock(_ context: PipelineContext) -> PipelineClock {
        shared.withLock { shared in
            let clock = shared.clock ?? context.clock
            shared.clock = clock
            return clock
        }
    }
}

// MARK: Refreshes

extension TokenRefresher {
    private func run(_ flight: State.Flight, _ context: PipelineContext) async {
        let clock = clock(context)
        let timer = Task(executorPreference: clock.taskExecutor) {
            guard (try? await clock.sleep(for: self.policy.timeout)) != nil else { return }
            self.perform { $0.timeUp(flight) }
        }
        let marks = TokenRefreshMark.current + [TokenRefreshMark(refresher: self, id: flight.id)]
        shared.withLock { $0.answer = nil }
        let refresh = Task(executorPreference: clock.taskExecutor) {
            try await TokenRefreshMark.$current.withValue(marks) {
                try await TrafficPriority.$ofTask.withValue(.high) {
                    try await self.refresh(flight.credential, context)
                }
            }
        }
        let isWanted = shared.withLock { shared in
            if shared.state.flight?.id == flight.id { shared.tasks = (refresh, timer) }
            return !shared.state.isCancelled(flight)
        }
        if !isWanted { refresh.cancel() }
        let ending = await refresh.result
        let (now, date) = (clock.now, clock.date)
        let answer = shared.withLock(\.answer)
        perform(for: context) { $0.end(flight, ending, answer: answer, now: now, date: date) }
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
        let change = perform { state -> State.Change? in
            state.set(credential, continuesSession: continuesSession, now: now, systemNow: systemNow, date: date)
            return state.unreported.flatMap { $0.number == state.reporting?.number ? $0 : nil }
        }
        await change?.ending.value { change?.ending.fill(()) }
    }

    private func report(_ change: State.Change) {
        guard let onChange else { return }
        // Detached, so that the closure does not count as part of the call that caused the change.
        Task.detached(executorPreference: shared.withLock { $0.clock }?.taskExecutor) {
            let mark = TokenRefreshMark(refresher: self, id: change.number)
            await TokenRefreshMark.$current.withValue([mark]) { await onChange(change.credential, change.reason) }
            self.perform { $0.reported(change) }
            change.ending.fill(())
        }
    }
}

/// The generation of the last ticket that the call had from each refresher.
private enum TicketGenerations: PipelineContext.Key {
    static let defaultValue: [ObjectIdentifier: Int] = [:]
}

/// A mark for code that runs in a refresh or a report, so that its own calls do not wait for it.
struct TokenRefreshMark: Sendable {
    @TaskLocal static var current: [TokenRefreshMark] = []

    let refresher: any AnyObject & Sendable
    /// The number of the refresh or of the change.
    let id: Int
}
