import Foundation
import Pipeline
import PipelineTesting

@testable import PipelinePlugins

/// Lets random events happen to a state and keeps its own account of what must hold.
final class TokenRefreshModel {
    private typealias State = TokenRefreshState<Session>

    private let policy = TokenRefreshPolicy(
        leeway: .seconds(3),
        timeout: .seconds(7),
        maximumCount: 3,
        window: .seconds(10)
    )
    private let obtains: Bool
    private var random: PipelineRandom
    private var state: State
    private var now = PipelineClock(ManualClock()).now
    private var date = Date(timeIntervalSince1970: 0)

    private var tickets: [State.Ticket] = []
    private var waiting: Set<Int> = []
    private var woken = 0
    private var waited = 0
    /// Refreshes that run, also those whose time is up.
    private var running: [State.Flight] = []
    /// The one that holds the place.
    private var active: State.Flight?
    private var starts: [PipelineClock.Instant] = []
    private var expected: Session?
    private var number = 0

    private(set) var fault: String?
    /// What has happened at least once, so that a model which does nothing does not pass.
    private(set) var seen: Set<String> = []

    static func everything(obtains: Bool) -> Set<String> {
        let all: Set = [
            "proceed", "wait", "excessive", "giveBack", "failed before", "renewed", "failed", "timed out", "cancelled",
            "late credential", "stale credential", "start after the end", "kept after cancel",
        ]
        return obtains ? all : all.union(["old session"])
    }

    init(seed: UInt64, obtains: Bool) {
        self.obtains = obtains
        random = .seeded(seed)
        expected = obtains ? nil : Session(accessToken: "0")
        state = State(credential: expected, obtainsCredential: obtains, policy: policy)
    }

    // MARK: Events

    func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: begin()
        case 30..<55: refuse()
        case 55..<65: cancel()
        case 65..<80: end()
        case 80..<84: timeUp()
        case 84..<87: set(pick() ? makeSession() : nil)
        case 87..<89: if let ticket = tickets.randomElement(using: &random) { state.note(refusalOf: ticket) }
        default: pass(.milliseconds(Int.random(in: 1...2_500, using: &random)))
        }
        check()
    }

    /// Lets all refreshes end: nobody may be left waiting.
    func finish() {
        while !running.isEmpty, fault == nil {
            pass(.seconds(10))
            end()
            check()
        }
        require(waiting.isEmpty, "\(waiting.count) wait for ever")
        require(woken == waited, "\(waited) waited, \(woken) were woken")
    }

    private func begin() {
        let mayStart = pick()
        let isJoining = isWanted
        admit(state.begin(mayStart: mayStart, now: now, date: date), mayStart: mayStart || isJoining)
    }

    private func refuse() {
        guard let ticket = tickets.randomElement(using: &random) else { return }
        let mayStart = pick()
        let isOld = ticket.generation < state.generation
        let isJoining = isWanted
        let needsRefresh = state.needsRefresh(at: date)
        let admission = state.refuse(ticket, mayStart: mayStart, now: now, date: date)
        admit(admission, mayStart: mayStart || isJoining)
        switch admission {
        case .giveBack where isOld:
            see("old session")
            require(!obtains, "an old token was given back although nobody logs out")
        case .giveBack: require(!mayStart, "a present token was given back")
        case .proceed(let new):
            require(isOld, "a refused token is sent again")
            require(new == nil || new?.generation == state.generation, "an old token is sent again")
        case .wait where isOld && !isJoining: require(needsRefresh, "A04 an old token caused a refresh")
        default: break
        }
    }

    /// Whether a refresh is under way that is still wanted.
    private var isWanted: Bool { active.map { !state.isCancelled($0) } ?? false }

    private func admit(_ admission: State.Admission, mayStart: Bool) {
        switch admission {
        case .proceed(let ticket):
            see("proceed")
            require(ticket?.credential == expected, "a call got another credential than the present one")
            if let ticket {
                tickets.append(ticket)
                if tickets.count > 40 { tickets.removeFirst() }
            }
        case .wait(let id, let flight):
            see("wait")
            require(mayStart, "a call waits that may start no refresh")
            require(waiting.insert(id).inserted, "waiter \(id) twice")
            waited += 1
            if let flight { start(flight) }
        case .fail(.excessive):
            see("excessive")
            require(recentStarts == policy.maximumCount, "excessive after \(recentStarts) refreshes")
        case .fail: see("failed before")
        case .giveBack: see("giveBack")
        }
    }

    private func cancel() {
        guard let id = waiting.randomElement(using: &random) ?? (pick() ? 1 : nil) else { return }
        let isWaiting = waiting.contains(id)
        perform(state.cancel(id))
        require(!waiting.contains(id), "a cancelled call waits on")
        if isWaiting { see("cancelled") }
    }

    private func end() {
        guard let flight = running.randomElement(using: &random) else { return }
        running.removeAll { $0.id == flight.id }
        let isActive = active?.id == flight.id
        let wasCancelled = state.isCancelled(flight)
        let isPresent = flight.generation == state.generation
        var ending = State.Ending.failure(CancellationError())
        if pick() {
            let new = Int.random(in: 0..<8, using: &random) > 0 ? makeSession() : nil
            ending = .credential(new)
            if isPresent { expected = new }
            see(
                !isPresent
                    ? "stale credential"
                    : !isActive ? "late credential" : wasCancelled ? "kept after cancel" : "renewed"
            )
        }
        if isActive { active = nil }
        let before = running.count
        perform(state.end(flight, ending, now: now, date: date))
        if running.count > before {
            see("start after the end")
            require(wasCancelled, "a refresh that failed was begun again")
        }
    }

    private func timeUp() {
        guard let flight = running.randomElement(using: &random) else { return }
        if active?.id == flight.id { active = nil }
        perform(state.timeUp(flight))
    }

    private func set(_ new: Session?) {
        expected = new
        perform(state.set(new))
    }

    private func pass(_ duration: Duration) {
        now = now.advanced(by: duration)
        date += duration / .seconds(1)
    }

    // MARK: Effects

    private func perform(_ effects: [State.Effect]) {
        for effect in effects {
            switch effect {
            case .start(let flight): start(flight)
            case .cancel(let flight): require(running.contains { $0.id == flight.id }, "cancelled what does not run")
            case .stopTimer: break
            case .resume(let ids, let outcome):
                for id in ids { require(waiting.remove(id) != nil, "waiter \(id) woken twice") }
                woken += ids.count
                wake(outcome)
            }
        }
    }

    private func wake(_ outcome: State.Outcome) {
        switch outcome {
        case .proceed(let ticket): require(ticket?.credential == expected, "woken with another credential")
        case .fail(.thrown): see("failed")
        case .fail(.timedOut): see("timed out")
        case .fail(.excessive): require(recentStarts == policy.maximumCount, "excessive too early")
        case .cancelled: break
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
        require(state.flight?.id == active?.id, "another refresh has the place")
        require(state.credential == expected, "another credential is present")
        guard let active else { return require(waiting.isEmpty, "\(waiting.count) wait for nothing") }
        require(!waiting.isEmpty || state.isCancelled(active), "a refresh that nobody wants goes on")
    }

    private func require(_ holds: Bool, _ message: @autoclosure () -> String) {
        if !holds, fault == nil { fault = message() }
    }

    private func see(_ what: String) {
        seen.insert(what)
    }

    private func pick() -> Bool { Bool.random(using: &random) }

    private func makeSession() -> Session {
        number += 1
        let life = Int.random(in: -2...20, using: &random)
        return Session(accessToken: "\(number)", expiry: life > 15 ? nil : date.addingTimeInterval(Double(life)))
    }
}
