import Foundation
import PipelineCore

/// The credential, the refresh in progress, the waiting calls and the changes to report, as a value without I/O.
///
/// Each event is a method that adds to `effects`, which the caller takes and performs. There is one slot for a refresh
/// (`place`), so two never run at once. A refresh that no call waits for any more goes on, because its request may
/// already have used up the refresh token. One whose credential has been replaced is cancelled and occupies the slot
/// until it has ended or timed out. A refresh whose new credential is being reported also occupies the slot, so that
/// its calls continue only when the report has ended.
struct TokenRefreshState<Credential: TokenCredential>: Sendable {
    private struct Place: Sendable {
        let flight: Flight
        var waiters: [ObjectIdentifier: Waiter] = [:]
        var isCancelled = false
        /// Whether the refresh has ended but the report of its credential has not.
        var isReporting = false
    }

    let policy: TokenRefreshPolicy
    /// Whether a call without a credential waits for one; otherwise the policy decides.
    let obtainsCredential: Bool
    /// Whether changes of the credential are reported.
    let reportsChanges: Bool

    private(set) var credential: Credential?
    private(set) var generation = 0
    /// The last number of a generation or a refresh.
    private var lastID = 0
    private var due: Date?
    /// Whether the lifetime of the credential is counted from the next call, because no clock is known until then.
    private var isUnseen = true
    private var isRefused = false
    /// Tickets of earlier generations belong to a session that has ended.
    private var firstGeneration = 0
    /// When the last session ended.
    private var sessionEnd: PipelineClock.Instant?
    /// How the last session ended, for the errors of its calls.
    private var ending: String?
    /// When the last session ended, on the system's clock, until a call provides a clock.
    private var undatedSessionEnd: ContinuousClock.Instant?
    /// The outcome shared by calls that fail without a credential, so that a plugin outside reports it once.
    private var noCredential: Stage.SharedOutcome?
    private var failureCount = 0
    private var failure: TokenRefreshFailure?
    private var place: Place?
    /// The changes to report; the first is being reported.
    private var changes: [Change] = []
    private var starts: [PipelineClock.Instant] = []
    private var effects = Effects()

    init(credential: Credential?, obtainsCredential: Bool, reportsChanges: Bool, policy: TokenRefreshPolicy) {
        self.credential = credential
        self.obtainsCredential = obtainsCredential
        self.reportsChanges = reportsChanges
        self.policy = policy
    }

    /// Returns the effects of the last event, which must be performed.
    mutating func takeEffects() -> Effects {
        defer { effects = Effects() }
        return effects
    }

    /// Returns whether the credential must be refreshed before it is used.
    func needsRefresh(at date: Date) -> Bool {
        guard let credential else { return obtainsCredential }
        let due = isUnseen ? policy.due(credential, receivedAt: date) : due
        return isRefused || credential.accessToken.isEmpty || due.map { $0 <= date } ?? false
    }

    /// The number of calls that wait.
    var waitingCount: Int { place?.waiters.count ?? 0 }

    /// The refresh that occupies the slot: in progress, cancelled, or being reported.
    var flight: Flight? { place?.flight }

    /// Whether the refresh in the slot has ended and is being reported.
    var isReportingFlight: Bool { place?.isReporting ?? false }

    /// The change that is being reported.
    var reporting: Change? { changes.first }

    /// The change that set the current credential, until its report has ended.
    var unreported: Change? { changes.last.flatMap { $0.number == generation ? $0 : nil } }

    /// Returns whether a number is that of the refresh in progress or of the change that is being reported.
    func isWorking(_ id: Int) -> Bool {
        flight?.id == id && !isReportingFlight || reporting?.number == id
    }

    /// Returns whether a refresh that was started is no longer wanted.
    func isCancelled(_ flight: Flight) -> Bool {
        place.map { $0.flight.id != flight.id || $0.isCancelled } ?? true
    }
}

// MARK: Calls

extension TokenRefreshState {
    /// Admits a call that is about to be sent.
    ///
    /// - Parameters:
    ///   - patience: what the call may do to get a token.
    ///   - age: the time since the call began.
    ///   - earlier: the generation of the ticket that an earlier attempt of the call had.
    ///   - now: the current instant.
    ///   - date: the current date.
    /// - Returns: the next step of the call.
    mutating func begin(
        _ patience: Patience,
        age: Duration = .zero,
        after earlier: Int? = nil,
        now: PipelineClock.Instant,
        date: Date
    ) -> Admission {
        if isUnseen { count(from: date) }
        let isOlderThanSession = sessionEnd.map { $0.duration(to: now) < age } ?? false
        if isOlderThanSession || earlier.map({ $0 < firstGeneration }) ?? false { return .proceed(ended(at: now)) }
        let needsRefresh = needsRefresh(at: date)
        if patience == .none, isRefreshing || needsRefresh && credential == nil { return .proceed(.failure(.deadline)) }
        if isRefreshing || needsRefresh && patience == .start { return wait(now) }
        let fails = credential == nil && policy.withoutCredential == .fail
        return .proceed(fails ? ended(at: now) : .success(ticket))
    }

    /// Handles a response that refuses the token of a call.
    mutating func refuse(
        _ ticket: Ticket,
        _ patience: Patience,
        now: PipelineClock.Instant,
        date: Date
    ) -> Admission {
        guard ticket.generation >= firstGeneration else {
            return policy.withoutCredential == .sendAll ? .giveBack : .proceed(ended(at: now))
        }
        let isPresent = ticket.generation == generation
        if patience == .none {
            // The next call refreshes first.
            if isPresent { isRefused = true }
            return .giveBack
        }
        guard isPresent else { return begin(patience, now: now, date: date) }
        guard patience == .start || isRefreshing else { return .giveBack }
        if place == nil, ticket.failureCount < failureCount, let failure { return .proceed(.failure(failure)) }
        return wait(now)
    }

    /// Removes a waiting call that was cancelled or whose deadline has passed.
    mutating func leave(_ waiter: Waiter) {
        guard place?.waiters.removeValue(forKey: ObjectIdentifier(waiter)) != nil else { return }
        effects.resumed = [waiter]
        effects.outcome = .failure(.cancelled)
        if waitingCount == 0, isReportingFlight { vacate(.failure(.cancelled)) }
    }

    private var ticket: Ticket? {
        credential.map { Ticket(credential: $0, generation: generation, failureCount: failureCount) }
    }

    /// Whether calls that begin now wait for a refresh.
    private var isRefreshing: Bool {
        place.map { !$0.isCancelled } ?? false
    }

    private mutating func wait(_ now: PipelineClock.Instant) -> Admission {
        guard place != nil || start(now) else { return .proceed(.failure(.excessive)) }
        let waiter = Waiter()
        place?.waiters[ObjectIdentifier(waiter)] = waiter
        return .wait(waiter)
    }

    /// Returns the result for a call whose session has ended, or that has no credential.
    private mutating func ended(at now: PipelineClock.Instant?) -> Outcome {
        if policy.withoutCredential == .sendAll { return .success(nil) }
        let ago = now.flatMap { now in sessionEnd.map { " \(PipelineError.text(of: $0.duration(to: now))) ago" } } ?? ""
        let reason = ending.map { "the session of the call has ended: \($0)\(ago)" } ?? "no session has begun"
        guard credential == nil, let now else { return .failure(.sessionEnded(nil, reason)) }
        let shared = noCredential ?? Stage.SharedOutcome(endedAt: now)
        noCredential = shared
        return .failure(.sessionEnded(shared, reason))
    }

    /// Returns the result for calls that waited for the current credential.
    private mutating func outcome(at now: PipelineClock.Instant?) -> Outcome {
        credential == nil ? ended(at: now) : .success(ticket)
    }
}

// MARK: Refreshes

extension TokenRefreshState {
    /// Starts a refresh in the free slot; returns `false` at the limit of refreshes.
    private mutating func start(_ now: PipelineClock.Instant) -> Bool {
        let window = policy.window
        starts.removeAll { $0.duration(to: now) >= window }
        guard starts.count < policy.maximumCount else { return false }
        starts.append(now)
        lastID += 1
        let flight = Flight(id: lastID, generation: generation, credential: credential)
        place = Place(flight: flight)
        effects.start = flight
        return true
    }

    /// Handles the end of a refresh, which may have timed out before.
    mutating func end(
        _ flight: Flight,
        _ ending: Result<Credential?, any Error>,
        answer: String? = nil,
        now: PipelineClock.Instant,
        date: Date
    ) {
        let isCurrent = flight.generation == generation
        let hasSlot = place?.flight.id == flight.id
        if isCurrent, case .success(let new) = ending, new != nil || credential != nil {
            if new == nil {
                endSession("the refresh returned no credential" + (answer.map { ", after \($0)," } ?? ""), at: now)
            }
            replace(by: new, new == nil ? .sessionEnd : .refresh)
            isUnseen = false
            due = new.flatMap { policy.due($0, refreshedAt: date) }
            if !hasSlot { supersede(outcome(at: now)) }
        } else if isCurrent, case .success = ending {
            noCredential = nil
        }
        guard hasSlot, let place else { return }
        switch ending {
        case .success where isCurrent:
            // Calls do not wait for the report of a session's end: another user may have logged in by then.
            if credential != nil, unreported != nil, !place.waiters.isEmpty {
                self.place?.isReporting = true
            } else {
                vacate(outcome(at: now))
            }
        case .failure(let error) where !place.isCancelled:
            vacate(note(.thrown(error)))
        case .success, .failure:
            // The waiting calls came after the cancellation, or need a refresh of a later credential.
            effects.stopsTimer = true
            guard !place.waiters.isEmpty, start(now) else { return vacate(.failure(.excessive)) }
            self.place?.waiters = place.waiters
        }
    }

    /// Handles the timeout of a refresh: calls wait no longer, neither for it nor for the report of its credential.
    mutating func timeUp(_ flight: Flight) {
        guard let place, place.flight.id == flight.id else { return }
        guard !place.isReporting else { return vacate(.success(ticket)) }
        effects.cancelsRefresh = true
        vacate(note(.timedOut))
    }

    private mutating func note(_ failure: TokenRefreshFailure) -> Outcome {
        failureCount += 1
        self.failure = failure
        return .failure(failure)
    }

    /// Clears the slot and resumes the waiting calls.
    private mutating func vacate(_ outcome: Outcome) {
        resume(outcome)
        effects.stopsTimer = true
        place = nil
    }

    private mutating func resume(_ outcome: Outcome) {
        guard let waiters = place?.waiters.values, !waiters.isEmpty else { return }
        effects.resumed = Array(waiters)
        effects.outcome = outcome
        place?.waiters = [:]
    }

    /// Resumes the waiting calls after a change of the credential that another refresh in the slot did not make.
    ///
    /// That refresh is cancelled, but occupies the slot until it ends; the report of its credential continues.
    private mutating func supersede(_ outcome: Outcome) {
        guard let place, !place.isReporting else { return vacate(outcome) }
        resume(outcome)
        guard !place.isCancelled else { return }
        self.place?.isCancelled = true
        effects.cancelsRefresh = true
    }
}

// MARK: Changes

extension TokenRefreshState {
    /// Sets or removes the credential for the application, which takes precedence over a refresh in progress.
    ///
    /// The instant and the date are `nil` while no clock is known.
    mutating func set(
        _ new: Credential?,
        continuesSession: Bool,
        now: PipelineClock.Instant?,
        systemNow: ContinuousClock.Instant,
        date: Date?
    ) {
        let endsSession = new == nil || credential != nil && !continuesSession
        if endsSession {
            let what = new == nil ? "removed the credential" : "set the credential of another session"
            endSession("the application \(what)", at: now, systemNow)
        }
        replace(by: new, new == nil ? .logOut : .logIn)
        if let date { count(from: date) }
        supersede(endsSession ? ended(at: now) : outcome(at: now))
    }

    /// Converts the end of the last session to the clock that a call provides.
    mutating func dateSessionEnd(now: PipelineClock.Instant, systemNow: ContinuousClock.Instant) {
        guard let end = undatedSessionEnd else { return }
        undatedSessionEnd = nil
        sessionEnd = now.advanced(by: systemNow.duration(to: end))
    }

    /// Handles the end of the report of a change.
    mutating func reported(_ change: Change) {
        changes.removeFirst()
        effects.report = changes.first
        if isReportingFlight, change.number == generation { vacate(.success(ticket)) }
    }

    /// Marks the session as ended by the change that follows.
    private mutating func endSession(
        _ ending: String,
        at now: PipelineClock.Instant?,
        _ systemNow: ContinuousClock.Instant? = nil
    ) {
        firstGeneration = generation + 1
        guard credential != nil else { return }
        self.ending = ending
        sessionEnd = now
        undatedSessionEnd = now == nil ? systemNow : nil
    }

    private mutating func count(from date: Date) {
        due = credential.flatMap { policy.due($0, receivedAt: date) }
        isUnseen = false
    }

    private mutating func replace(by new: Credential?, _ reason: TokenCredentialChange) {
        let isChange = credential != nil || new != nil
        credential = new
        lastID += 1
        generation = lastID
        due = nil
        isUnseen = true
        isRefused = false
        failure = nil
        if isChange { noCredential = nil }
        guard isChange else { return }
        effects.change = .init(credential: new, reason: reason)
        guard reportsChanges else { return }
        changes.append(Change(number: generation, credential: new, reason: reason))
        if changes.count == 1 { effects.report = changes.first }
    }
}
