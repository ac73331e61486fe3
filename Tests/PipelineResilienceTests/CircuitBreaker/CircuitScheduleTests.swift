import Pipeline
import TestSupport
import Testing

@testable import PipelineResilience

/// A circuit that keeps every outcome and looks through all of them each time.
private struct ReferenceCircuit {
    let rules: CircuitRules
    var state = CircuitState.closed
    /// The number of the state, from 0.
    var era = 0
    var outcomes: [(at: Duration, isFailure: Bool)] = []
    var openedAt = Duration.zero
    var probes: [Int: (ending: Circuit.Ending?, hasHead: Bool)] = [:]
    var firstProbeAt = Duration.zero
    var latestProbeAt = Duration.zero
    var nextID = 0

    /// Returns the number and era of a call that passes.
    mutating func admit(at now: Duration) -> (id: Int, era: Int)? {
        if state == .halfOpen, !probes.isEmpty, now - firstProbeAt >= rules.probeTimeout {
            let limit = firstProbeAt + rules.probeTimeout
            if probes.values.contains(where: { $0.ending == nil && !$0.hasHead }) {
                enter(.open, at: limit)
            } else {
                judge(probes.values.map { $0.ending ?? .success }, at: limit)
            }
        }
        if state == .open, now - openedAt >= rules.breakDuration { enter(.halfOpen, at: now) }
        guard state == .closed || state == .halfOpen && mayProbe(at: now) else { return nil }
        nextID += 1
        if state == .halfOpen {
            if probes.isEmpty { firstProbeAt = now }
            latestProbeAt = now
            probes[nextID] = (nil, false)
        }
        return (nextID, era)
    }

    func mayProbe(at now: Duration) -> Bool {
        let hangs = probes.values.contains { $0.ending == nil && !$0.hasHead }
        return probes.count < rules.probeCount || hangs && now - latestProbeAt >= rules.breakDuration
    }

    mutating func head(_ call: (id: Int, era: Int)) {
        if call.era == era { probes[call.id]?.hasHead = true }
    }

    mutating func end(_ call: (id: Int, era: Int), _ ending: Circuit.Ending, at now: Duration) {
        guard call.era == era else { return }
        guard state == .halfOpen else {
            if ending != .ignored { outcomes.append((now, ending == .failure)) }
            let counted = counted(at: now)
            let failures = counted.filter(\.isFailure)
            var minimum = rules.minimumCallCount
            if case .count(let size) = rules.window { minimum = min(minimum, size) }
            if ending != .ignored, counted.count >= minimum, !failures.isEmpty,
                rules.failureRatio <= Double(failures.count) / Double(counted.count)
            {
                enter(.open, at: now)
            }
            return
        }
        probes[call.id] = ending == .ignored ? nil : (ending, false)
        let endings = probes.values.compactMap(\.ending)
        if endings.count == rules.probeCount { judge(endings, at: now) }
    }

    mutating func judge(_ endings: [Circuit.Ending], at now: Duration) {
        let failures = endings.count { $0 == .failure }
        enter(Double(failures) / Double(endings.count) >= rules.failureRatio ? .open : .closed, at: now)
    }

    mutating func enter(_ new: CircuitState, at now: Duration) {
        (state, outcomes, probes) = (new, [], [:])
        era += 1
        if new == .open { openedAt = now }
    }

    func counted(at now: Duration) -> [(at: Duration, isFailure: Bool)] {
        switch rules.window {
        case .count(let count): return outcomes.suffix(count)
        case .time(let duration):
            let length = duration / 10
            let current = (now / length).rounded(.down)
            return outcomes.filter { ($0.at / length).rounded(.down) > current - 10 }
        }
    }
}

/// A circuit and its reference, which see the same random calls.
private struct CircuitSchedule {
    let rules: CircuitRules
    var random: PipelineRandom
    var circuit: Circuit
    var reference: ReferenceCircuit
    var running: [(permit: Circuit.Permit, hadHead: Bool, call: (id: Int, era: Int))] = []
    var now = Duration.zero
    let failureShare: Double

    init(seed: UInt64) {
        var random = PipelineRandom.seeded(seed)
        rules = CircuitRules(
            failureRatio: [0.1, 0.3, 0.5, 1].randomElement(using: &random) ?? 1,
            minimumCallCount: Int.random(in: 1...8, using: &random),
            window: Bool.random(using: &random)
                ? .count(Int.random(in: 1...130, using: &random))
                : .time(.milliseconds(Int.random(in: 1...40, using: &random) * 100)),
            breakDuration: .milliseconds(Int.random(in: 1...20, using: &random) * 100),
            probeCount: Int.random(in: 1...4, using: &random),
            probeTimeout: .milliseconds(Int.random(in: 1...20, using: &random) * 100)
        )
        failureShare = [0.05, 0.3, 0.8].randomElement(using: &random) ?? 0
        circuit = Circuit(rules)
        reference = ReferenceCircuit(rules: rules)
        self.random = random
    }

    /// Takes a step; returns what is wrong after it.
    mutating func step() -> String? {
        now += .milliseconds([0, 0, 10, 100, 700].randomElement(using: &random) ?? 0)
        switch Int.random(in: 0..<100, using: &random) {
        case 0:
            circuit.isolate()
            if reference.state != .isolated { reference.enter(.isolated, at: now) }
        case 1:
            circuit.reset()
            reference.enter(.closed, at: now)
        case 2..<55:
            if let difference = begin() { return difference }
        case 55..<65:
            guard let index = running.indices.randomElement(using: &random), !running[index].hadHead else { break }
            running[index].hadHead = circuit.noteHead(running[index].permit)
            reference.head(running[index].call)
        default:
            end()
        }
        return circuit.state == reference.state
            ? nil : "the circuit is \(circuit.state), and should be \(reference.state)"
    }

    private mutating func begin() -> String? {
        let call = reference.admit(at: now)
        switch circuit.admit(at: now) {
        case .passes(let permit):
            guard let call else { return "a call passes, and should be refused" }
            running.append((permit, false, call))
            return nil
        case .refused(_, let retryAfter):
            guard call == nil else { return "a call is refused, and should pass" }
            let wait = reference.state == .open ? reference.openedAt + rules.breakDuration - now : nil
            return retryAfter == wait ? nil : "retryAfter is wrong"
        }
    }

    private mutating func end() {
        guard let index = running.indices.randomElement(using: &random) else { return }
        let (permit, hadHead, call) = running.remove(at: index)
        let draw = Double.random(in: 0..<1, using: &random)
        let ending = draw < 0.1 ? Circuit.Ending.ignored : draw < 0.1 + failureShare ? .failure : .success
        circuit.end(permit, ending, hadHead: hadHead, at: now)
        reference.end(call, ending, at: now)
    }
}

@Suite("Circuit: random schedules", .watched)
struct CircuitScheduleTests {
    @Test("In 10,000 random schedules, a circuit does what a circuit that keeps every outcome does")
    func schedules() {
        var visits: [CircuitState: Int] = [:]
        for seed in 0..<UInt64(10_000) {
            var schedule = CircuitSchedule(seed: seed)
            for step in 0..<60 {
                if let difference = schedule.step() {
                    Issue.record("seed \(seed), step \(step): \(difference)")
                    return
                }
                visits[schedule.circuit.state, default: 0] += 1
            }
        }
        // Otherwise, the schedules would prove little.
        for state in [CircuitState.closed, .open, .halfOpen, .isolated] {
            #expect(visits[state, default: 0] > 5_000, "\(state)")
        }
    }
}
