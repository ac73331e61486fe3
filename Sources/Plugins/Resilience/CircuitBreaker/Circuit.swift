import PipelineCore

/// Decides which requests pass, as a value without a clock or tasks.
///
/// Times are measured from any fixed moment. Each change of the state begins a new generation. An outcome counts only
/// in the generation in which its request passed.
struct Circuit: Sendable {
    /// The right to send one request, which must be ended exactly once.
    struct Permit: Sendable, Hashable {
        let generation: Int
        let isProbe: Bool
    }

    /// What a request may do.
    enum Admission: Sendable, Hashable {
        case passes(Permit)
        /// The request is refused; the time until the next probe is `nil` if it depends on something else.
        case refused(CircuitState, retryAfter: Duration?)
    }

    /// How a request ended.
    enum Ending: Sendable, Hashable {
        case success
        case failure
        /// Says nothing about the server, such as a cancellation.
        case ignored
    }

    /// A change of the state.
    struct Change: Sendable, Hashable {
        let old: CircuitState
        let new: CircuitState
    }

    private struct Probes {
        var since = Duration.zero
        /// When the latest one passed.
        var latest = Duration.zero
        var runningCount = 0
        /// The number of running probes whose response head has arrived.
        var headCount = 0
        var successCount = 0
        var failureCount = 0

        var count: Int { runningCount + successCount + failureCount }
    }

    private let rules: CircuitRules
    private let minimumCallCount: Int
    private var window: CircuitWindow
    private var probes = Probes()
    private var openUntil = Duration.zero
    /// The length of the latest break; `nil` since the circuit closed.
    private var latestBreak: Duration?
    private var random: PipelineRandom
    private(set) var state: CircuitState
    private(set) var generation = 0
    /// The changes that have not been taken.
    private(set) var changes: [Change] = []

    init(_ rules: CircuitRules, isIsolated: Bool = false, random: PipelineRandom = .system) {
        self.rules = rules
        self.random = random
        if case .count(let count) = rules.window {
            minimumCallCount = min(rules.minimumCallCount, count)
        } else {
            minimumCallCount = rules.minimumCallCount
        }
        window = CircuitWindow(rules.window)
        state = isIsolated ? .isolated : .closed
    }

    /// Whether the circuit is closed and has seen no failure lately, so that a new one would behave alike.
    func isIdle(at now: Duration) -> Bool {
        state == .closed && window.counts(at: now).failureCount == 0
    }

    /// Returns the share of failures in the window; 0 without outcomes.
    func failureRatio(at now: Duration) -> Double {
        let (callCount, failureCount) = window.counts(at: now)
        return callCount > 0 ? Double(failureCount) / Double(callCount) : 0
    }

    /// Returns the changes since the previous call, in order.
    mutating func takeChanges() -> [Change] {
        defer { changes = [] }
        return changes
    }

    /// The permit for a request in a closed circuit, which needs no time; `nil` in any other state.
    var closedPermit: Permit? {
        state == .closed ? Permit(generation: generation, isProbe: false) : nil
    }

    /// Returns the time until the break of an open circuit has passed; `nil` in any other state.
    func remainingBreak(at now: Duration) -> Duration? {
        state == .open ? max(openUntil - now, .zero) : nil
    }

    /// Decides whether a request passes.
    mutating func admit(at now: Duration) -> Admission {
        if state == .halfOpen { expireProbes(at: now) }
        if state == .open, now >= openUntil {
            probes = Probes()
            change(to: .halfOpen)
        }
        switch state {
        case .closed: return .passes(Permit(generation: generation, isProbe: false))
        case .open: return .refused(.open, retryAfter: openUntil - now)
        case .isolated: return .refused(.isolated, retryAfter: nil)
        case .halfOpen:
            guard probes.count < rules.probeCount || mayAddProbe(at: now) else {
                return .refused(.halfOpen, retryAfter: nil)
            }
            if probes.count == 0 { probes.since = now }
            probes.latest = now
            probes.runningCount += 1
            return .passes(Permit(generation: generation, isProbe: true))
        }
    }

    /// Records that the head of a response to a probe has arrived; returns whether the probe still counts.
    mutating func noteHead(_ permit: Permit) -> Bool {
        guard permit.generation == generation, permit.isProbe else { return false }
        probes.headCount += 1
        return true
    }

    /// Ends a permit; `hadHead` is what ``noteHead(_:)`` has returned for it.
    mutating func end(_ permit: Permit, _ ending: Ending, hadHead: Bool = false, at now: Duration) {
        guard permit.generation == generation else { return }
        guard permit.isProbe else { return record(ending, at: now) }
        probes.runningCount -= 1
        if hadHead { probes.headCount -= 1 }
        switch ending {
        case .ignored: return
        case .success: probes.successCount += 1
        case .failure: probes.failureCount += 1
        }
        guard probes.successCount + probes.failureCount == rules.probeCount else { return }
        judge(successCount: probes.successCount, at: now)
    }

    /// Refuses all requests until ``reset()``.
    mutating func isolate() {
        change(to: .isolated)
    }

    /// Closes the circuit and forgets all outcomes.
    mutating func reset() {
        latestBreak = nil
        window = CircuitWindow(rules.window)
        change(to: .closed)
    }

    private mutating func record(_ ending: Ending, at now: Duration) {
        guard ending != .ignored else { return }
        window.record(isFailure: ending == .failure, at: now)
        guard window.callCount >= minimumCallCount else { return }
        if rules.isReached(by: window.failureCount, of: window.callCount) { open(at: now) }
    }

    /// Returns whether one more probe passes, because the others may hang on a server that works again by now.
    private func mayAddProbe(at now: Duration) -> Bool {
        probes.headCount < probes.runningCount && now >= probes.latest + (latestBreak ?? rules.breakDuration)
    }

    /// Ends the half-open state if its probes have taken too long.
    private mutating func expireProbes(at now: Duration) {
        let end = probes.since + rules.probeTimeout
        guard probes.count > 0, now >= end else { return }
        guard probes.headCount == probes.runningCount else { return open(at: end) }
        judge(successCount: probes.successCount + probes.headCount, at: end)
    }

    private mutating func judge(successCount: Int, at moment: Duration) {
        let count = successCount + probes.failureCount
        if rules.isReached(by: probes.failureCount, of: count) { open(at: moment) } else { reset() }
    }

    /// Begins a break, which is twice as long as the one before, more or less, if that has not ended in success.
    ///
    /// Unless all breaks are equally long, clients that opened their circuits together do not all return together.
    private mutating func open(at moment: Duration) {
        var length = rules.breakDuration
        if let maximum = rules.maximumBreakDuration {
            let factors = latestBreak == nil ? 0.8...1.2 : 1.6...2.4
            length = min((latestBreak ?? length) * Double.random(in: factors, using: &random), maximum)
        }
        latestBreak = length
        openUntil = moment + length
        change(to: .open)
    }

    private mutating func change(to new: CircuitState) {
        generation += 1
        guard new != state else { return }
        changes.append(Change(old: state, new: new))
        state = new
    }
}
