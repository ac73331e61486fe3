import Foundation
import Pipeline

/// The credential, the refresh under way and who waits for it, as a value without I/O.
///
/// Each event is a method and says what has to be done. There is one place for a refresh, so there are never two at once. One
/// that nobody wants any more is cancelled and keeps the place until it has ended or its time is up: a refresh token may be good
/// for one use only.
struct TokenRefreshState<Credential: TokenCredential>: Sendable {
    /// What a call sends.
    struct Ticket: Sendable {
        let credential: Credential
        let generation: Int
        /// How many refreshes had failed when it was given out.
        let failureCount: Int
    }

    /// A refresh.
    struct Flight: Sendable {
        let id: Int
        /// Of the credential that it replaces.
        let generation: Int
        let credential: Credential?
    }

    /// How a refresh ended.
    enum Ending: Sendable {
        case credential(Credential?)
        case failure(any Error)
    }

    /// What a call does next.
    enum Admission: Sendable {
        case proceed(Ticket?)
        case wait(Int, starting: Flight?)
        case fail(TokenRefreshFailure)
        case giveBack
    }

    /// What a call has waited for.
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
    }

    private struct Place: Sendable {
        let flight: Flight
        var waiters: Set<Int>
        var isCancelled = false
    }

    let policy: TokenRefreshPolicy
    /// Whether a call without a credential waits for one; else it is sent without.
    let obtainsCredential: Bool

    private(set) var credential: Credential?
    private(set) var generation = 0
    private var due: Date?
    private var isRefused = false
    /// Tickets of earlier generations are of a session that has ended.
    private var firstGeneration = 0
    private var failureCount = 0
    private var failure: TokenRefreshFailure?
    private var place: Place?
    private var starts: [PipelineClock.Instant] = []
    private var nextID = 0

    init(credential: Credential?, obtainsCredential: Bool, policy: TokenRefreshPolicy) {
        self.credential = credential
        self.obtainsCredential = obtainsCredential
        self.policy = policy
        due = policy.due(credential)
    }

    private var ticket: Ticket? {
        credential.map { Ticket(credential: $0, generation: generation, failureCount: failureCount) }
    }

    /// Whether the credential is to be refreshed before it is used.
    func needsRefresh(at date: Date) -> Bool {
        credential == nil ? obtainsCredential : isRefused || due.map { $0 <= date } ?? false
    }

    /// The refresh under way, also one that was cancelled and has not ended.
    var flight: Flight? { place?.flight }

    /// Whether the refresh was started, and nobody wants it any more.
    func isCancelled(_ flight: Flight) -> Bool {
        place.map { $0.flight.id != flight.id || $0.isCancelled } ?? true
    }
}

// MARK: Calls

extension TokenRefreshState {
    /// A call is about to be sent.
    ///
    /// - Parameters:
    ///   - mayStart: whether it may start a refresh; joining one that is under way is always allowed.
    ///   - now: the present moment.
    ///   - date: the present date.
    /// - Returns: what it sends, or that it waits.
    mutating func begin(mayStart: Bool, now: PipelineClock.Instant, date: Date) -> Admission {
        if let place, !place.isCancelled { return wait(now) }
        return mayStart && needsRefresh(at: date) ? wait(now) : .proceed(ticket)
    }

    /// The answer to a call says that its token is refused.
    mutating func refuse(
        _ ticket: Ticket,
        mayStart: Bool,
        now: PipelineClock.Instant,
        date: Date
    ) -> Admission {
        guard ticket.generation >= firstGeneration else { return .giveBack }
        guard ticket.generation == generation else { return begin(mayStart: mayStart, now: now, date: date) }
        guard mayStart else { return .giveBack }
        if place == nil, ticket.failureCount < failureCount, let failure { return .fail(failure) }
        return wait(now)
    }

    /// A token was refused to a call that cannot be sent again: the next one refreshes first.
    mutating func note(refusalOf ticket: Ticket) {
        if ticket.generation == generation { isRefused = true }
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

    /// A waiting call was cancelled.
    mutating func cancel(_ waiter: Int) -> [Effect] {
        guard var place, place.waiters.remove(waiter) != nil else { return [] }
        var effects: [Effect] = [.resume([waiter], .cancelled)]
        if place.waiters.isEmpty, !place.isCancelled {
            place.isCancelled = true
            effects.append(.cancel(place.flight))
        }
        self.place = place
        return effects
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

    /// A refresh has ended, maybe after its time was up.
    mutating func end(
        _ flight: Flight,
        _ ending: Ending,
        now: PipelineClock.Instant,
        date: Date
    ) -> [Effect] {
        let isCurrent = flight.generation == generation
        if isCurrent, case .credential(let new) = ending {
            replace(by: new, due: policy.due(new, receivedAt: date))
        }
        guard let place, place.flight.id == flight.id else {
            return flight.generation < generation && isCurrent ? supersede() : []
        }
        self.place = nil
        var effects: [Effect] = [.stopTimer(flight)]
        switch ending {
        case .credential where isCurrent:
            effects += resume(place.waiters, .proceed(ticket))
        case .failure(let error) where !place.isCancelled:
            effects += resume(place.waiters, .fail(note(.thrown(error))))
        case .credential, .failure:
            // Who waits came after it was cancelled, or wants the refresh of a later credential.
            guard !place.waiters.isEmpty else { break }
            if let next = start(for: place.waiters, now) {
                effects.append(.start(next))
            } else {
                effects += resume(place.waiters, .fail(.excessive))
            }
        }
        return effects
    }

    /// The time for a refresh is up; it is cancelled and no longer waited for.
    mutating func timeUp(_ flight: Flight) -> [Effect] {
        guard let place, place.flight.id == flight.id else { return [] }
        self.place = nil
        return [.cancel(flight)] + resume(place.waiters, .fail(note(.timedOut)))
    }

    /// A credential is set from outside, or taken away; it wins over the refresh under way.
    mutating func set(_ new: Credential?) -> [Effect] {
        replace(by: new, due: policy.due(new))
        return supersede()
    }

    private mutating func replace(by new: Credential?, due: Date?) {
        credential = new
        generation += 1
        self.due = due
        isRefused = false
        failure = nil
        if new == nil, !obtainsCredential { firstGeneration = generation }
    }

    /// Another credential has come while a refresh is under way.
    private mutating func supersede() -> [Effect] {
        guard var place else { return [] }
        var effects: [Effect] = place.isCancelled ? [] : [.cancel(place.flight)]
        place.isCancelled = true
        if credential != nil || !obtainsCredential {
            effects += resume(place.waiters, .proceed(ticket))
            place.waiters = []
        }
        self.place = place
        return effects
    }

    private mutating func note(_ failure: TokenRefreshFailure) -> TokenRefreshFailure {
        failureCount += 1
        self.failure = failure
        return failure
    }

    private func resume(_ waiters: Set<Int>, _ outcome: Outcome) -> [Effect] {
        waiters.isEmpty ? [] : [.resume(waiters.sorted(), outcome)]
    }
}
