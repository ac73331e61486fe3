import Foundation
import Pipeline
import PipelineTesting

@testable import PipelineAuth

/// Applies random events to a state and tracks independently what must hold.
final class TokenRefreshModel {
    private typealias State = TokenRefreshState<Session>

    /// The configuration of the state.
    struct Setup: Sendable {
        var obtains = false
        var reports = true
        var withoutCredential = TokenRefreshPolicy.WithoutCredential.fail

        var sendsAll: Bool { withoutCredential == .sendAll }
    }

    private let policy: TokenRefreshPolicy
    private let setup: Setup
    private var obtains: Bool { setup.obtains }
    private var random: PipelineRandom
    private var state: State
    private var now = PipelineClock(ManualClock()).now
    private var systemNow = ContinuousClock.now
    private var date = Date(timeIntervalSince1970: 0)

    private var tickets: [State.Ticket] = []
    private var waiting: [ObjectIdentifier: State.Waiter] = [:]
    private var woken = 0
    private var waited = 0
    /// The running refreshes, including those past their time limit.
    private var running: [State.Flight] = []
    /// The refresh that is running and blocks others.
    private var active: State.Flight?
    /// The refresh that has ended and blocks others until its credential is reported.
    private var reported: State.Flight?
    /// The changes still to be reported; the report of the first may be in progress.
    private var changes: [TokenBench.Change] = []
    private var reporting: State.Change?
    private var starts: [PipelineClock.Instant] = []
    private var expected: Session?
    /// The date from which the credential may be refreshed before a server refuses it; `nil` for never.
    private var halfLife: Date?
    private var isRefused = false
    /// Tickets of earlier generations belong to a session that has ended.
    private var firstGeneration = 0
    /// When the last session ended.
    private var sessionEnd: PipelineClock.Instant?
    /// Whether the event ends the session of the calls that it wakes.
    private var isEnding = false
    /// Whether the lifetime of the credential, set without a clock, counts from the next call.
    private var isUncounted = true
    private var number = 0

    private(set) var fault: String?
    /// The events seen at least once, so that a model that does nothing fails.
    private(set) var seen: Set<String> = []

    static func everything(_ setup: Setup) -> Set<String> {
        var all: Set = [
            "proceed", "wait", "excessive", "giveBack", "failed before", "renewed", "failed", "timed out", "left",
            "late credential", "stale credential", "start after the end", "too late", "short life",
            "session over", "switched", "undated end", setup.sendsAll ? "old session" : "session ended",
        ]
        if setup.withoutCredential == .fail { all.insert("no credential") }
        if setup.reports { all.formUnion(["waits for a report", "leaves a report", "report timed out"]) }
        return all
    }

    init(seed: UInt64, _ setup: Setup) {
        self.setup = setup
        random = .seeded(seed)
        policy = TokenRefreshPolicy(
            leeway: .seconds(3),
            timeout: .seconds(7),
            maximumCount: 3,
            window: .seconds(10),
            withoutCredential: setup.withoutCredential
        )
        expected = setup.obtains ? nil : Session(accessToken: "0", expiry: date.addingTimeInterval(4))
        state = State(
            credential: expected,
            obtainsCredential: setup.obtains,
            reportsChanges: setup.reports,
            policy: policy
        )
    }

    // MARK: Events

    func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: begin()
        case 30..<53: refuse()
        case 53..<63: leave()
        case 63..<75: end()
        case 75..<82: report()
        case 82..<85: timeUp()
        case 85..<88: set(pick() ? makeSession() : nil)
        default: pass(.milliseconds(Int.random(in: 1...2_500, using: &random)))
        }
        check()
    }

    /// Ends all refreshes and reports; no call may be left waiting and no change unreported.
    func finish() {
        while !running.isEmpty || reporting != nil, fault == nil {
            pass(.seconds(10))
            end()
            report()
            check()
        }
        require(waiting.isEmpty, "\(waiting.count) wait for ever")
        require(woken == waited, "\(waited) waited, \(woken) were woken")
        require(changes.isEmpty, "\(changes.count) changes were not reported")
    }

    private func begin() {
        let patience = pickPatience()
        let isJoining = isWanted
        if isUncounted { count(from: date) }
        let needsRefresh = expected == nil ? obtains : isRefused || halfLife.map { $0 <= date } ?? false
        require(
            state.needsRefresh(at: date) == needsRefresh,
            "a token is refreshed before half of its life, or too late"
        )
        let earlier = pick() ? tickets.randomElement(using: &random)?.generation : nil
        let age = Duration.milliseconds(pick() ? 0 : Int.random(in: 0...3_000, using: &random))
        let isOlder = sessionEnd.map { now.advanced(by: .zero - age) < $0 } ?? false
        state.dateSessionEnd(now: now, systemNow: systemNow)
        let admission = state.begin(patience, age: age, after: earlier, now: now, date: date)
        if isOlder || earlier.map({ $0 < firstGeneration }) ?? false {
            see("session over")
            switch admission {
            case .proceed(.failure(.sessionEnded(let shared, _))):
                return require(!setup.sendsAll && (shared == nil) == (expected != nil), "a report too many or too few")
            case .proceed(.success(nil)):
                return require(setup.sendsAll, "A08 a call of an ended session is sent without a token")
            default: return require(false, "A08 a call of an ended session is sent with a token, or waits for one")
            }
        }
        admit(admission, patience, isJoining: isJoining)
        guard case .proceed(.success) = admission, let expiry = expected?.expiry, !needsRefresh else { return }
        if expiry < date.addingTimeInterval(3) { see("short life") }
    }

    private func refuse() {
        guard let ticket = tickets.randomElement(using: &random) else { return }
        let patience = pickPatience()
        let isOld = ticket.generation < state.generation
        let isJoining = isWanted
        let needsRefresh = state.needsRefresh(at: date)
        state.dateSessionEnd(now: now, systemNow: systemNow)
        let admission = state.refuse(ticket, patience, now: now, date: date)
        if patience == .none, !isOld { isRefused = true }
        switch admission {
        case .proceed(.failure(.sessionEnded(let shared, _))):
            see("session ended")
            require(ticket.generation < firstGeneration && !setup.sendsAll, "a present session has ended")
            require((shared == nil) == (expected != nil), "a report too many or too few")
            return
        case .giveBack where isOld && patience != .none:
            see("old session")
            require(setup.sendsAll, "a call of an old session was given its 401")
        case .giveBack: require(patience != .start, "a present token was given back")
        case .proceed(.success(let new)):
            require(isOld, "a refused token is sent again")
            require(new == nil || new?.generation == state.generation, "an old token is sent again")
        case .wait where isOld && !isJoining: require(needsRefresh, "A04 an old token caused a refresh")
        default: break
        }
        if case .giveBack = admission {} else if isOld, isUncounted { count(from: date) }
        admit(admission, patience, isJoining: isJoining)
    }

    /// Whether a refresh or report that calls may join is in progress.
    private var isWanted: Bool { (active ?? reported).map { !state.isCancelled($0) } ?? false }

    private func admit(_ admission: State.Admission, _ patience: State.Patience, isJoining: Bool) {
        switch admission {
        case .proceed(.success(let ticket)):
            see("proceed")
            require(ticket?.credential == expected, "a call got another credential than the present one")
            require(ticket != nil || setup.withoutCredential != .fail, "a call is sent without a credential")
            if let ticket {
                tickets.append(ticket)
                if tickets.count > 40 { tickets.removeFirst() }
            }
        case .wait(let waiter):
            see("wait")
            require(patience != .none, "A07 a call waits whose deadline has passed")
            require(patience == .start || isJoining, "a call waits that may start no refresh")
            if reported != nil { see("waits for a report") }
            waiting[ObjectIdentifier(waiter)] = waiter
            waited += 1
            performEffects()
        case .proceed(.failure(.excessive)):
            see("excessive")
            require(recentStarts == policy.maximumCount, "excessive after \(recentStarts) refreshes")
        case .proceed(.failure(.deadline)):
            see("too late")
            require(patience == .none, "a call in time was too late")
        case .proceed(.failure(.sessionEnded(let shared, _))):
            see("no credential")
            let isRight = expected == nil && setup.withoutCredential == .fail && shared != nil
            require(isRight, "a call fails although the session goes on")
        case .proceed(.failure): see("failed before")
        case .giveBack: see("giveBack")
        }
    }

    /// Cancels a call or lets its deadline pass.
    private func leave() {
        guard let waiter = waiting.randomElement(using: &random)?.value ?? (pick() ? State.Waiter() : nil) else {
            return
        }
        let isWaiting = waiting[ObjectIdentifier(waiter)] != nil
        if isWaiting, waiting.count == 1, reported != nil {
            see("leaves a report")
            reported = nil
        }
        state.leave(waiter)
        performEffects()
        require(waiting[ObjectIdentifier(waiter)] == nil, "A07 a call that has left waits on")
        if isWaiting { see("left") }
    }

    private func end() {
        guard let flight = running.randomElement(using: &random) else { return }
        running.removeAll { $0.id == flight.id }
        let isActive = active?.id == flight.id
        let wasCancelled = state.isCancelled(flight)
        let isPresent = flight.generation == state.generation
        var ending = Result<Session?, any Error>.failure(CancellationError())
        if pick() {
            let new = Int.random(in: 0..<8, using: &random) > 0 ? makeSession() : nil
            ending = .success(new)
            isEnding = isPresent && new == nil && (expected != nil || isActive)
            if isPresent, new != nil || expected != nil {
                change(to: new, new == nil ? .sessionEnd : .refresh, hasClock: true)
                halfLife = new?.expiry.flatMap { $0 > date ? half(of: $0, from: date) : nil }
                isUncounted = false
                if !isActive { reported = nil }
            }
            see(
                !isPresent
                    ? "stale credential"
                    : isActive ? "renewed" : "late credential"
            )
            if isActive, isPresent, new != nil, state.reportsChanges, !waiting.isEmpty { reported = flight }
        }
        if isActive { active = nil }
        let before = running.count
        state.end(flight, ending, now: now, date: date)
        performEffects()
        endEvent()
        if running.count > before {
            see("start after the end")
            require(wasCancelled, "a refresh that failed was begun again")
        }
    }

    private func report() {
        guard let change = reporting else { return }
        reporting = nil
        if change.number == state.generation { reported = nil }
        state.reported(change)
        performEffects()
    }

    private func timeUp() {
        guard let flight = (running + [reported].compactMap(\.self)).randomElement(using: &random) else { return }
        if active?.id == flight.id { active = nil }
        if reported?.id == flight.id {
            see("report timed out")
            reported = nil
        }
        state.timeUp(flight)
        performEffects()
    }

    private func set(_ new: Session?) {
        // A call that waits has given the clock.
        let hasClock = pick() || !waiting.isEmpty
        let continues = pick()
        isEnding = new == nil || expected != nil && !continues
        if isEnding, new != nil, !waiting.isEmpty { see("switched") }
        change(to: new, new == nil ? .logOut : .logIn, hasClock: hasClock)
        reported = nil
        isUncounted = true
        if hasClock { count(from: date) }
        state.set(
            new,
            continuesSession: continues,
            now: hasClock ? now : nil,
            systemNow: systemNow,
            date: hasClock ? date : nil
        )
        performEffects()
        endEvent()
    }

    private func change(to new: Session?, _ reason: TokenCredentialChange, hasClock: Bool) {
        if setup.reports, new != nil || expected != nil { changes.append(.init(new?.accessToken, reason)) }
        if isEnding {
            firstGeneration = state.generation + 1
            if expected != nil {
                sessionEnd = now
                if !hasClock { see("undated end") }
            }
        }
        expected = new
        isRefused = false
    }

    /// Checks that no call waits after its session has ended.
    private func endEvent() {
        require(!isEnding || waiting.isEmpty, "A08 \(waiting.count) wait although their session has ended")
        isEnding = false
    }

    /// Starts the lifetime of a credential that the application set.
    private func count(from date: Date) {
        halfLife = expected?.expiry.map { half(of: $0, from: expected?.issuedAt ?? date) }
        isUncounted = false
    }

    private func half(of expiry: Date, from date: Date) -> Date {
        let life = max(0, expiry.timeIntervalSince(date))
        return life > 6 ? expiry.addingTimeInterval(-3) : expiry.addingTimeInterval(-life / 2)
    }

    private func pass(_ duration: Duration) {
        now = now.advanced(by: duration)
        systemNow = systemNow.advanced(by: duration)
        date += duration / .seconds(1)
    }

    // MARK: Effects

    private func performEffects() {
        let effects = state.takeEffects()
        require(!effects.cancelsRefresh || !running.isEmpty, "cancelled what does not run")
        for waiter in effects.resumed {
            require(waiting.removeValue(forKey: ObjectIdentifier(waiter)) != nil, "a waiter was woken twice")
        }
        woken += effects.resumed.count
        if !effects.resumed.isEmpty { wake(effects.outcome) }
        if let change = effects.report {
            require(reporting == nil, "two reports at once")
            reporting = change
            let expected = changes.isEmpty ? nil : changes.removeFirst()
            require(
                expected == TokenBench.Change(change.credential?.accessToken, change.reason),
                "a change was reported out of order"
            )
        }
        if let flight = effects.start { start(flight) }
    }

    private func wake(_ outcome: State.Outcome) {
        switch outcome {
        case .success(let ticket):
            require(ticket?.credential == (isEnding ? nil : expected), "woken with another credential")
            require(ticket != nil || setup.sendsAll, "A08 a call that waited is sent without a token")
        case .failure(.sessionEnded(let shared, _)):
            require(isEnding, "A08 a call fails although the session goes on")
            require((shared == nil) == (expected != nil), "a report too many or too few")
        case .failure(.thrown): see("failed")
        case .failure(.timedOut): see("timed out")
        case .failure(.excessive): require(recentStarts == policy.maximumCount, "excessive too early")
        case .failure(.deadline), .failure(.cancelled): break
        }
    }

    private func start(_ flight: State.Flight) {
        require(active == nil, "two refreshes at once")
        require(flight.generation == state.generation, "a refresh for an old credential")
        require(flight.credential == expected, "a refresh of another credential")
        require(obtains || expected != nil, "a refresh of nothing")
        active = flight
        running.append(flight)
        starts.append(now)
        require(recentStarts <= policy.maximumCount, "\(recentStarts) refreshes within the window")
    }

    private var recentStarts: Int {
        starts.suffix(policy.maximumCount + 1).count { $0.duration(to: now) < policy.window }
    }

    // MARK: What always holds

    private func check() {
        require(state.flight?.id == (active ?? reported)?.id, "another refresh has the place")
        require(state.isReportingFlight == (reported != nil), "calls wait for a report that they need not wait for")
        require(state.credential == expected, "another credential is present")
        require(reporting != nil || changes.isEmpty, "a change waits for no report")
        guard let flight = active ?? reported else {
            return require(waiting.isEmpty, "A07 \(waiting.count) wait for nothing")
        }
        let isReplaced = flight.generation != state.generation
        require(reported != nil || state.isCancelled(flight) == isReplaced, "A10 a refresh was cancelled in vain")
    }

    private func require(_ holds: Bool, _ message: @autoclosure () -> String) {
        if !holds, fault == nil { fault = message() }
    }

    private func see(_ what: String) {
        seen.insert(what)
    }

    private func pick() -> Bool { Bool.random(using: &random) }

    private func pickPatience() -> State.Patience {
        [.none, .join, .start, .start].randomElement(using: &random) ?? .start
    }

    private func makeSession() -> Session {
        number += 1
        let life = Int.random(in: -2...20, using: &random)
        return Session(
            accessToken: "\(number)",
            expiry: life > 15 ? nil : date.addingTimeInterval(Double(life)),
            issuedAt: pick() ? nil : date.addingTimeInterval(-Double.random(in: -2...20, using: &random))
        )
    }
}
