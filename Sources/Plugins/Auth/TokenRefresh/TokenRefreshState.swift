import Foundation
import PipelineCore

/// The credential, the refresh in progress, the waiting calls and the changes to report, as a value without I/O.
///
/// Each event is a method that returns the effects to perform. There is one slot for a refresh (`place`), so two never
/// run at once. A refresh that no call waits for any more goes on, because its request may already have used up the
/// refresh token. One whose credential has been replaced is cancelled and occupies the slot until it has ended or timed
/// out. A refresh whose new credential is being reported also occupies the slot, so that its calls continue only when
/// the report has ended.
struct TokenRefreshState<Credential: TokenCredential>: Sendable {
    /// The credential that a call is sent with.
    struct Ticket: Sendable {
        let credential: Credential
        let generation: Int
        /// The number of refreshes that had failed when the ticket was issued.
        let failureCount: Int
    }

    /// A refresh.
    struct Flight: Sendable {
        let id: Int
        /// The generation of the credential that it replaces.
        let generation: Int
        let credential: Credential?
    }

    /// A change of the credential; its number is the generation that it began.
    struct Change: Sendable {
        let number: Int
        let credential: Credential?
        let reason: TokenCredentialChange
    }

    /// The result of a refresh.
    enum Ending: Sendable {
        case credential(Credential?)
        case failure(any Error)
    }

    /// What a call may do to get a token.
    enum Patience: Sendable {
        /// It must not wait: its deadline has passed, or its body cannot be sent a second time.
        case none
        /// It may wait for a refresh in progress.
        case join
        /// It may also start a refresh.
        case start
    }

    /// The next step of a call.
    enum Admission: Sendable {
        case proceed(Ticket?)
        case wait(Int, starting: Flight?)
        case fail(TokenRefreshFailure)
        case giveBack
    }

    /// The result of a call's wait.
    enum Outcome: Sendable {
        case proceed(Ticket?)
        case fail(TokenRefreshFailure)
        case cancelled
    }

    /// An effect to perform after an event.
    enum Effect: Sendable {
        case start(Flight)
        case cancel(Flight)
        case stopTimer(Flight)
        case resume([Int], Outcome)
        case report(Change)
    }

    private struct Place: Sendable {
        let flight: Flight
        var waiters: Set<Int>
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
    private var due: Date?
    /// Whether the lifetime of the credential is counted from the next call, because no clock is known until then.
    private var isUnseen = true
    private var isRefused = false
    /// Tickets of earlier generations belong to a session that has ended.
    private var firstGeneration = 0
    /// When the last session ended.
    private var sessionEnd: PipelineClock.Instant?
    /// When the last session ended, on the system's clock, until a call provides a clock.
    private var undatedSessionEnd: ContinuousClock.Instant?
    /// The report shared by calls that fail without a credential; `nil` while there is one.
    private var report: SessionEndReport?
    private var failureCount = 0
    private var failure: TokenRefreshFailure?
    private var place: Place?
    /// The changes to report; the first is being reported.
    private var changes: [Change] = []
    private var starts: [PipelineClock.Instant] = []
    private var nextID = 0

    init(credential: Credential?, obtainsCredential: Bool, reportsChanges: Bool, policy: TokenRefreshPolicy) {
        self.credential = credential
        self.obtainsCredential = obtainsCredential
        self.reportsChanges = reportsChanges
        self.policy = policy
        report = credential == nil ? SessionEndReport() : nil
    }

    private var ticket: Ticket? {
        credential.map { Ticket(credential: $0, generation: generation, failureCount: failureCount) }
    }

    /// Returns whether the credential must be refreshed before it is used.
    func needsRefresh(at date: Date) -> Bool {
        guard let credential else { return obtainsCredential }
        let due = isUnseen ? policy.due(credential, receivedAt: date) : due
        return isRefused || credential.accessToken.isEmpty || due.map { $0 <= date } ?? false
    }

    /// The refresh that occupies the slot: in progress, cancelled, or being reported.
    var flight: Flight? { place?.flight }

    /// Whether the refresh in the slot has ended and is being reported.
    var isReportingFlight: Bool { place?.isReporting ?? false }

    /// The change that is being reported.
    var reporting: Change? { changes.first }

    /// The change that set the current credential, until its report has ended.
    var unreported: Change? { changes.last.flatMap { $0.number == generation ? $0 : nil } }

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
        if isOlderThanSession || earlier.map({ $0 < firstGeneration }) ?? false {
            return policy.withoutCredential == .sendAll ? .proceed(nil) : .fail(.sessionEnded(report))
        }
        let needsRefresh = needsRefresh(at: date)
        if patience == .none, isRefreshing || needsRefresh && credential == nil { return .fail(.deadline) }
        if isRefreshing || needsRefresh && patience == .start { return wait(now) }
        return credential == nil && policy.withoutCredential == .fail
            ? .fail(.sessionEnded(report)) : .proceed(ticket)
    }

    /// Handles a response that refuses the token of a call.
    mutating func refuse(
        _ ticket: Ticket,
        _ patience: Patience,
        now: PipelineClock.Instant,
        date: Date
    ) -> Admission {
        guard ticket.generation >= firstGeneration else {
            return policy.withoutCredential == .sendAll ? .giveBack : .fail(.sessionEnded(report))
        }
        let isPresent = ticket.generation == generation
        if patience == .none {
            // The next call refreshes first.
            if isPresent { isRefused = true }
            return .giveBack
        }
        guard isPresent else { return begin(patience, now: now, date: date) }
        guard patience == .start || isRefreshing else { return .giveBack }
        if place == nil, ticket.failureCount < failureCount, let failure { return .fail(failure) }
        return wait(now)
    }

    /// Removes a waiting call that was cancelled or whose deadline has passed.
    mutating func leave(_ waiter: Int) -> [Effect] {
        guard var place, place.waiters.remove(waiter) != nil else { return [] }
        self.place = place
        let effects: [Effect] = [.resume([waiter], .cancelled)]
        guard place.waiters.isEmpty, place.isReporting else { return effects }
        return effects + vacate(.stopTimer(place.flight), .cancelled)
    }

    /// Whether calls that begin now wait for a refresh.
    private var isRefreshing: Bool {
        place.map { !$0.isCancelled } ?? false
    }

    private mutating func wait(_ now: PipelineClock.Instant) -> Admission {
        nextID += 1
        let waiter = nextID
        if place != nil {
            place?.waiters.insert(waiter)
            return .wait(waiter, starting: nil)
        }
        guard let flight = start(for: [waiter], now) else { return .fail(.excessive) }
        return .wait(waiter, starting: flight)
    }
}

// MARK: Refreshes

extension TokenRefreshState {
    private mutating func start(for waiters: Set<Int>, _ now: PipelineClock.Instant) -> Flight? {
        let window = policy.window
        starts.removeAll { $0.duration(to: now) >= window }
        guard starts.count < policy.maximumCount else { return nil }
        starts.append(now)
        nextID += 1
        let flight = Flight(id: nextID, generation: generation, credential: credential)
        place = Place(flight: flight, waiters: waiters)
        return flight
    }

    /// Handles the end of a refresh, which may have timed out before.
    mutating func end(
        _ flight: Flight,
        _ ending: Ending,
        now: PipelineClock.Instant,
        date: Date
    ) -> [Effect] {
        let isCurrent = flight.generation == generation
        var effects: [Effect] = []
        var isReplaced = false
        if isCurrent, case .credential(let new) = ending {
            isReplaced = new != nil || credential != nil
            if isReplaced {
                if new == nil { endSession(at: now) }
                effects = replace(by: new, new == nil ? .sessionEnd : .refresh)
                isUnseen = false
                due = new.flatMap { policy.due($0, refreshedAt: date) }
            } else {
                report = SessionEndReport()
            }
        }
        guard var place, place.flight.id == flight.id else {
            return isReplaced ? effects + supersede(outcome) : effects
        }
        switch ending {
        case .credential where isCurrent:
            // Calls do not wait for the report of a session's end: another user may have logged in by then.
            if credential != nil, unreported != nil, !place.waiters.isEmpty {
                place.isReporting = true
                self.place = place
                return effects
            }
            return effects + vacate(.stopTimer(flight), outcome)
        case .failure(let error) where !place.isCancelled:
            return vacate(.stopTimer(flight), .fail(note(.thrown(error))))
        case .credential, .failure:
            // The waiting calls came after the cancellation, or need a refresh of a later credential.
            self.place = nil
            effects.append(.stopTimer(flight))
            guard !place.waiters.isEmpty else { return effects }
            if let next = start(for: place.waiters, now) { return effects + [.start(next)] }
            return effects + resume(place.waiters, .fail(.excessive))
        }
    }

    /// Handles the timeout of a refresh: calls wait no longer, neither for it nor for the report of its credential.
    mutating func timeUp(_ flight: Flight) -> [Effect] {
        guard let place, place.flight.id == flight.id else { return [] }
        return place.isReporting ? vacate(nil, outcome) : vacate(.cancel(flight), .fail(note(.timedOut)))
    }

    private mutating func note(_ failure: TokenRefreshFailure) -> TokenRefreshFailure {
        failureCount += 1
        self.failure = failure
        return failure
    }

    /// Clears the slot and resumes the waiting calls.
    private mutating func vacate(_ effect: Effect?, _ outcome: Outcome) -> [Effect] {
        let waiters = place?.waiters ?? []
        place = nil
        return [effect].compactMap(\.self) + resume(waiters, outcome)
    }

    /// Abandons a refresh whose credential was replaced: it occupies the slot until it ends, and its report continues.
    private mutating func abandon() -> [Effect] {
        guard let place, !place.isReporting else { return vacate(place.map { .stopTimer($0.flight) }, .cancelled) }
        self.place?.isCancelled = true
        return place.isCancelled ? [] : [.cancel(place.flight)]
    }

    private func resume(_ waiters: Set<Int>, _ outcome: Outcome) -> [Effect] {
        waiters.isEmpty ? [] : [.resume(waiters.sorted(), outcome)]
    }
}

// MARK: Changes

extension TokenRefreshState {
    /// Sets or removes the credential for the application, which takes precedence over a refresh in progress.
    ///
    /// - Parameters:
    ///   - new: the credential.
    ///   - continuesSession: whether the calls of the current session may use the credential.
    ///   - now: the current instant, `nil` while no clock is known.
    ///   - systemNow: the current instant on the system's clock.
    ///   - date: the current date, `nil` while no clock is known.
    /// - Returns: the effects to perform.
    mutating func set(
        _ new: Credential?,
        continuesSession: Bool,
        now: PipelineClock.Instant?,
        systemNow: ContinuousClock.Instant,
        date: Date?
    ) -> [Effect] {
        let endsSession = new == nil || credential != nil && !continuesSession
        if endsSession { endSession(at: now, systemNow) }
        let effects = replace(by: new, new == nil ? .logOut : .logIn)
        if let date { count(from: date) }
        return effects + supersede(endsSession ? ended : outcome)
    }

    /// Converts the end of the last session to the clock that a call provides.
    mutating func dateSessionEnd(now: PipelineClock.Instant, systemNow: ContinuousClock.Instant) {
        guard let end = undatedSessionEnd else { return }
        undatedSessionEnd = nil
        sessionEnd = now.advanced(by: systemNow.duration(to: end))
    }

    /// Marks the session as ended by the change that follows.
    private mutating func endSession(at now: PipelineClock.Instant?, _ systemNow: ContinuousClock.Instant? = nil) {
        firstGeneration = generation + 1
        guard credential != nil else { return }
        sessionEnd = now
        undatedSessionEnd = now == nil ? systemNow : nil
    }

    /// Handles the end of the report of a change.
    mutating func reported(_ change: Int) -> [Effect] {
        guard changes.first?.number == change else { return [] }
        changes.removeFirst()
        let effects = changes.first.map { [Effect.report($0)] } ?? []
        guard let place, place.isReporting, change == generation else { return effects }
        return effects + vacate(.stopTimer(place.flight), outcome)
    }

    private mutating func count(from date: Date) {
        due = credential.flatMap { policy.due($0, receivedAt: date) }
        isUnseen = false
    }

    private mutating func replace(by new: Credential?, _ reason: TokenCredentialChange) -> [Effect] {
        let isChange = credential != nil || new != nil
        credential = new
        generation += 1
        due = nil
        isUnseen = true
        isRefused = false
        failure = nil
        if isChange { report = new == nil ? SessionEndReport() : nil }
        guard reportsChanges, isChange else { return [] }
        let change = Change(number: generation, credential: new, reason: reason)
        changes.append(change)
        return changes.count == 1 ? [.report(change)] : []
    }

    /// Handles a new credential, or the end of the session, while a refresh occupies the slot.
    private mutating func supersede(_ outcome: Outcome) -> [Effect] {
        let waiters = place?.waiters ?? []
        place?.waiters = []
        return (place == nil ? [] : abandon()) + resume(waiters, outcome)
    }

    /// The result for calls that waited for the current credential.
    private var outcome: Outcome { credential == nil ? ended : .proceed(ticket) }

    /// The result for waiting calls whose session has ended.
    private var ended: Outcome {
        policy.withoutCredential == .sendAll ? .proceed(nil) : .fail(.sessionEnded(report))
    }
}
