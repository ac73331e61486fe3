import Foundation
import Pipeline

/// The credential, the refresh in progress, the calls that wait for it and the changes to report, as a value without I/O.
///
/// Each event is a method that returns what has to be done. There is one place for a refresh, so there are never two at once. A
/// refresh that no call wants any more is cancelled and keeps the place until it has ended or its time is up: a refresh token may
/// be valid for one use only. A refresh whose new credential is being reported keeps the place as well, so that its calls continue
/// only when the report has ended.
struct TokenRefreshState<Credential: TokenCredential>: Sendable {
    /// What a call sends.
    struct Ticket: Sendable {
        let credential: Credential
        let generation: Int
        /// How many refreshes had failed when the ticket was issued.
        let failureCount: Int
    }

    /// A refresh.
    struct Flight: Sendable {
        let id: Int
        /// Of the credential that it replaces.
        let generation: Int
        let credential: Credential?
    }

    /// A change of the credential; its number is the generation that it began.
    struct Change: Sendable {
        let number: Int
        let credential: Credential?
        let reason: TokenCredentialChange
    }

    /// How a refresh ended.
    enum Ending: Sendable {
        case credential(Credential?)
        case failure(any Error)
    }

    /// How far a call may go for a token.
    enum Patience: Sendable {
        /// It must not wait, because its deadline has passed or its body cannot be sent a second time.
        case none
        /// It may wait for a refresh in progress.
        case join
        /// It may also start a refresh.
        case start
    }

    /// What a call does next.
    enum Admission: Sendable {
        case proceed(Ticket?)
        case wait(Int, starting: Flight?)
        case fail(TokenRefreshFailure)
        case giveBack
    }

    /// How a call's wait ended.
    enum Outcome: Sendable {
        case proceed(Ticket?)
        case fail(TokenRefreshFailure)
        case cancelled
    }

    /// What has to be done.
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
        /// Whether the refresh has ended and the report of its credential has not.
        var isReporting = false
    }

    let policy: TokenRefreshPolicy
    /// Whether a call without a credential waits for one; otherwise it is sent without a token.
    let obtainsCredential: Bool
    /// Whether changes of the credential are reported.
    let reportsChanges: Bool

    private(set) var credential: Credential?
    private(set) var generation = 0
    private var due: Date?
    /// Whether the life of the credential is still to be counted from the next call, for lack of a clock until then.
    private var isUnseen = true
    private var isRefused = false
    /// Tickets of earlier generations belong to a session that has ended.
    private var firstGeneration = 0
    /// When the last session ended.
    private var sessionEnd: PipelineClock.Instant?
    /// When the last session ended, on the system's clock, until a call brings a clock.
    private var undatedSessionEnd: ContinuousClock.Instant?
    /// The report that calls share which fail for want of a credential, `nil` while there is one.
    private var report: SessionEndReport?
    private var failureCount = 0
    private var failure: TokenRefreshFailure?
    private var place: Place?
    /// The first is being reported.
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
        return isRefused || due.map { $0 <= date } ?? false
    }

    /// The refresh that holds the place: in progress, cancelled, or being reported.
    var flight: Flight? { place?.flight }

    /// Whether the refresh that holds the place has ended and is being reported.
    var isReportingFlight: Bool { place?.isReporting ?? false }

    /// The change that is being reported.
    var reporting: Change? { changes.first }

    /// The change that made the present credential, until its report has ended.
    var unreported: Change? { changes.last.flatMap { $0.number == generation ? $0 : nil } }

    /// Returns whether a refresh that was started is not wanted any more.
    func isCancelled(_ flight: Flight) -> Bool {
        place.map { $0.flight.id != flight.id || $0.isCancelled } ?? true
    }
}

// MARK: Calls

extension TokenRefreshState {
    /// A call is about to be sent.
    ///
    /// - Parameters:
    ///   - patience: how far the call may go for a token.
    ///   - age: how long ago the call began.
    ///   - earlier: the generation of the ticket that an earlier attempt of the call had.
    ///   - now: the present moment.
    ///   - date: the present date.
    /// - Returns: what the call does next.
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

    /// A response to a call says that its token is refused.
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
        guard patience == .start else { return .giveBack }
        if place == nil, ticket.failureCount < failureCount, let failure { return .fail(failure) }
        return wait(now)
    }

    /// A waiting call has left: it was cancelled, or its deadline has passed.
    mutating func leave(_ waiter: Int) -> [Effect] {
        guard var place, place.waiters.remove(waiter) != nil else { return [] }
        self.place = place
        let effects: [Effect] = [.resume([waiter], .cancelled)]
        guard place.waiters.isEmpty, !place.isCancelled else { return effects }
        return effects + abandon()
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

    /// A refresh has ended, perhaps after its time was up.
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
            // The end of a session is not waited for: until it is reported another user may have logged in.
            if credential != nil, unreported != nil, !place.waiters.isEmpty {
                place.isCancelled = false
                place.isReporting = true
                self.place = place
                return effects
            }
            return effects + vacate(.stopTimer(flight), outcome)
        case .failure(let error) where !place.isCancelled:
            return vacate(.stopTimer(flight), .fail(note(.thrown(error))))
        case .credential, .failure:
            // The calls that wait came after it was cancelled, or want the refresh of a later credential.
            self.place = nil
            effects.append(.stopTimer(flight))
            guard !place.waiters.isEmpty else { return effects }
            if let next = start(for: place.waiters, now) { return effects + [.start(next)] }
            return effects + resume(place.waiters, .fail(.excessive))
        }
    }

    /// The time for a refresh is up: calls do not wait any longer, neither for it nor for the report of its credential.
    mutating func timeUp(_ flight: Flight) -> [Effect] {
        guard let place, place.flight.id == flight.id else { return [] }
        return place.isReporting ? vacate(nil, outcome) : vacate(.cancel(flight), .fail(note(.timedOut)))
    }

    private mutating func note(_ failure: TokenRefreshFailure) -> TokenRefreshFailure {
        failureCount += 1
        self.failure = failure
        return failure
    }

    /// Frees the place and lets the calls that wait go.
    private mutating func vacate(_ effect: Effect?, _ outcome: Outcome) -> [Effect] {
        let waiters = place?.waiters ?? []
        place = nil
        return [effect].compactMap(\.self) + resume(waiters, outcome)
    }

    /// Gives a refresh up that no call waits for any more: it keeps the place until it ends, and its report continues.
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
    /// The application sets a credential or removes it, which wins over a refresh in progress.
    ///
    /// - Parameters:
    ///   - new: the credential.
    ///   - continuesSession: whether the calls of the present session may use the credential.
    ///   - now: the present moment, `nil` while no clock is known.
    ///   - systemNow: the present moment on the system's clock.
    ///   - date: the present date, `nil` while no clock is known.
    /// - Returns: what has to be done.
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

    /// A call brings a clock, on which the last session ended as long ago as on the system's.
    mutating func dateSessionEnd(now: PipelineClock.Instant, systemNow: ContinuousClock.Instant) {
        guard let end = undatedSessionEnd else { return }
        undatedSessionEnd = nil
        sessionEnd = now.advanced(by: systemNow.duration(to: end))
    }

    /// The present session ends with the change that follows.
    private mutating func endSession(at now: PipelineClock.Instant?, _ systemNow: ContinuousClock.Instant? = nil) {
        firstGeneration = generation + 1
        guard credential != nil else { return }
        sessionEnd = now
        undatedSessionEnd = now == nil ? systemNow : nil
    }

    /// The report of a change has ended.
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

    /// Another credential has come, or the session has ended, while a refresh holds the place.
    private mutating func supersede(_ outcome: Outcome) -> [Effect] {
        let waiters = place?.waiters ?? []
        place?.waiters = []
        return (place == nil ? [] : abandon()) + resume(waiters, outcome)
    }

    /// How the wait of a call ends that waited for the present credential.
    private var outcome: Outcome { credential == nil ? ended : .proceed(ticket) }

    /// How the wait of a call ends whose session has ended.
    private var ended: Outcome {
        policy.withoutCredential == .sendAll ? .proceed(nil) : .fail(.sessionEnded(report))
    }
}
