import Pipeline
import Synchronization

/// Carries out what `TokenRefreshState` says: runs refreshes in tasks that belong to no call, and lets calls wait.
final class TokenRefresher<Credential: TokenCredential>: Sendable {
    typealias State = TokenRefreshState<Credential>
    typealias Refresh = @Sendable (Credential?, PipelineContext) async throws -> Credential?
    typealias OnRefresh = @Sendable (Credential?) async -> Void

    /// What a call does next.
    enum Admission: Sendable {
        case proceed(State.Ticket?)
        case wait(Waiting)
        case fail(TokenRefreshFailure)
        case giveBack
    }

    /// A call among those that wait.
    struct Waiting: Sendable {
        fileprivate let id: Int
        fileprivate let waiter: TokenWaiter<State.Outcome>
    }

    /// The tasks of the refresh under way.
    private struct Run {
        let id: Int
        let work: Task<Void, Never>
        let timer: Task<Void, Never>
    }

    private struct Shared {
        var state: State
        var waiters: [Int: TokenWaiter<State.Outcome>] = [:]
        var run: Run?
        /// That of the first call, so that moments compare when several providers share the credential.
        var clock: PipelineClock?
    }

    /// What is done when the lock is free again.
    private struct Deeds {
        var cancelled: [Task<Void, Never>] = []
        var filled: [(waiters: [TokenWaiter<State.Outcome>], outcome: State.Outcome)] = []
        var next: State.Flight?
    }

    let policy: TokenRefreshPolicy
    private let refresh: Refresh
    private let onRefresh: OnRefresh?
    private let shared: Mutex<Shared>

    init(_ state: State, onRefresh: OnRefresh?, refresh: @escaping Refresh) {
        policy = state.policy
        self.refresh = refresh
        self.onRefresh = onRefresh
        shared = Mutex(Shared(state: state))
    }

    var credential: Credential? { shared.withLock { $0.state.credential } }

    var waitingCount: Int { shared.withLock { $0.waiters.count } }

    func set(_ credential: Credential?) {
        perform { $0.set(credential) }
    }
}

// MARK: Calls

extension TokenRefresher {
    /// A call is about to be sent.
    func begin(mayStart: Bool, _ context: PipelineContext) -> Admission {
        admit(context) { state, clock in state.begin(mayStart: mayStart, now: clock.now, date: clock.date) }
    }

    /// The answer to a call says that its token is refused.
    func refuse(_ ticket: State.Ticket, mayStart: Bool, _ context: PipelineContext) -> Admission {
        admit(context) { state, clock in
            state.refuse(ticket, mayStart: mayStart, now: clock.now, date: clock.date)
        }
    }

    func note(refusalOf ticket: State.Ticket) {
        shared.withLock { $0.state.note(refusalOf: ticket) }
    }

    /// Waits for the refresh; the cancellation of the waiting task ends the wait at once.
    func outcome(of waiting: Waiting) async -> State.Outcome {
        await withTaskCancellationHandler {
            await waiting.waiter.value()
        } onCancel: {
            perform { $0.cancel(waiting.id) }
        }
    }

    /// Whether the running code is part of a refresh that others may be waiting for.
    var isRefreshingHere: Bool {
        let marks = TokenRefreshMark.current.filter { $0.refresher === self }
        guard !marks.isEmpty else { return false }
        let id = shared.withLock { $0.state.flight?.id }
        return marks.contains { $0.flight == id }
    }

    private func admit(
        _ context: PipelineContext,
        _ event: (inout State, PipelineClock) -> State.Admission
    ) -> Admission {
        let (admission, flight, clock) = shared.withLock { shared -> (Admission, State.Flight?, PipelineClock) in
            let clock = shared.clock ?? context.clock
            shared.clock = clock
            switch event(&shared.state, clock) {
            case .proceed(let ticket): return (.proceed(ticket), nil, clock)
            case .fail(let failure): return (.fail(failure), nil, clock)
            case .giveBack: return (.giveBack, nil, clock)
            case .wait(let id, let flight):
                let waiter = TokenWaiter<State.Outcome>()
                shared.waiters[id] = waiter
                return (.wait(Waiting(id: id, waiter: waiter)), flight, clock)
            }
        }
        if let flight { start(flight, context, clock) }
        return admission
    }
}

// MARK: Refreshes

extension TokenRefresher {
    private func start(_ flight: State.Flight, _ context: PipelineContext, _ clock: PipelineClock) {
        let timer = Task {
            guard (try? await clock.sleep(for: policy.timeout)) != nil else { return }
            perform { $0.timeUp(flight) }
        }
        let marks = TokenRefreshMark.current + [TokenRefreshMark(refresher: self, flight: flight.id)]
        let work = Task {
            let ending = await TokenRefreshMark.$current.withValue(marks) { await run(flight, context) }
            let next = perform { $0.end(flight, ending, now: clock.now, date: clock.date) }
            if let next { start(next, context, clock) }
        }
        let (isWanted, isUnderWay) = shared.withLock { shared in
            let isUnderWay = shared.state.flight?.id == flight.id
            if isUnderWay { shared.run = Run(id: flight.id, work: work, timer: timer) }
            return (!shared.state.isCancelled(flight), isUnderWay)
        }
        if !isWanted { work.cancel() }
        if !isUnderWay { timer.cancel() }
    }

    private func run(_ flight: State.Flight, _ context: PipelineContext) async -> State.Ending {
        do {
            let new = try await refresh(flight.credential, context)
            if let onRefresh, shared.withLock({ $0.state.generation == flight.generation }) { await onRefresh(new) }
            return .credential(new)
        } catch {
            return .failure(error)
        }
    }

    /// Lets an event happen and does what follows from it.
    ///
    /// - Returns: the refresh that has to be started.
    @discardableResult
    private func perform(_ event: (inout State) -> [State.Effect]) -> State.Flight? {
        let deeds = shared.withLock { shared -> Deeds in
            var deeds = Deeds()
            for effect in event(&shared.state) {
                switch effect {
                case .start(let flight):
                    deeds.next = flight
                case .cancel(let flight):
                    if let run = shared.run, run.id == flight.id { deeds.cancelled.append(run.work) }
                case .stopTimer(let flight):
                    if let run = shared.run, run.id == flight.id { deeds.cancelled.append(run.timer) }
                case .resume(let ids, let outcome):
                    deeds.filled.append((ids.compactMap { shared.waiters.removeValue(forKey: $0) }, outcome))
                }
            }
            if shared.run?.id != shared.state.flight?.id { shared.run = nil }
            return deeds
        }
        for task in deeds.cancelled { task.cancel() }
        for (waiters, outcome) in deeds.filled {
            for waiter in waiters { waiter.fill(outcome) }
        }
        return deeds.next
    }
}

/// Marks code that is part of a refresh, so that its own calls do not wait for it.
struct TokenRefreshMark: Sendable {
    @TaskLocal static var current: [TokenRefreshMark] = []

    let refresher: any AnyObject & Sendable
    let flight: Int
}
