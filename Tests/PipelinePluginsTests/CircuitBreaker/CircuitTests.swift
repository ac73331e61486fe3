import Pipeline
import Testing

@testable import PipelinePlugins

/// A step of a case in ``CircuitTests``.
enum CircuitStep: Sendable {
    /// A call that passes and ends at once.
    case call(Circuit.Ending)
    /// A call that passes and is still running; it is ended by its number, from 0.
    case begin
    /// The head of the response to a running call arrives.
    case head(Int)
    case end(Int, Circuit.Ending)
    /// A call that is refused, with the time until the next probe in seconds.
    case refused(retryAfter: Double?)
    case wait(Double)
    case isolate
    case reset

    static let success = Self.call(.success)
    static let failure = Self.call(.failure)
    static let refused = Self.refused(retryAfter: nil)

    static func successes(_ count: Int) -> [Self] { Array(repeating: .success, count: count) }
    static func failures(_ count: Int) -> [Self] { Array(repeating: .failure, count: count) }
}

/// A row of a table of states: what happens to a circuit, and its state afterwards.
struct CircuitCase: Sendable, CustomTestStringConvertible {
    let name: String
    let rules: CircuitRules
    let steps: [CircuitStep]
    let state: CircuitState

    init(_ name: String, _ rules: CircuitRules, _ steps: [CircuitStep], _ state: CircuitState) {
        (self.name, self.rules, self.steps, self.state) = (name, rules, steps, state)
    }

    var testDescription: String { name }

    /// Takes the steps and returns the circuit.
    func run() -> Circuit {
        var circuit = Circuit(rules)
        var now = Duration.zero
        var running: [(permit: Circuit.Permit, hadHead: Bool)] = []
        for (index, step) in steps.enumerated() {
            switch step {
            case .wait(let seconds): now += .seconds(seconds)
            case .isolate: circuit.isolate()
            case .reset: circuit.reset()
            case .refused(let retryAfter):
                let admission = circuit.admit(at: now)
                let expected = Circuit.Admission.refused(circuit.state, retryAfter: retryAfter.map { .seconds($0) })
                #expect(admission == expected, "\(name), step \(index)")
            case .begin, .call:
                guard case .passes(let permit) = circuit.admit(at: now) else {
                    Issue.record("\(name), step \(index): the call was refused")
                    return circuit
                }
                if case .call(let ending) = step {
                    circuit.end(permit, ending, at: now)
                } else {
                    running.append((permit, false))
                }
            case .head(let number):
                running[number].hadHead = circuit.noteHead(running[number].permit)
            case .end(let number, let ending):
                circuit.end(running[number].permit, ending, hadHead: running[number].hadHead, at: now)
            }
        }
        return circuit
    }
}

extension CircuitRules {
    /// Rules for cases, with short numbers.
    static func sample(
        ratio: Double = 0.5,
        minimum: Int = 2,
        window: Window = .count(10),
        breaks: Double = 1,
        probes: Int = 1,
        timeout: Double = 30
    ) -> CircuitRules {
        CircuitRules(
            failureRatio: ratio,
            minimumCallCount: minimum,
            window: window,
            breakDuration: .seconds(breaks),
            probeCount: probes,
            probeTimeout: .seconds(timeout)
        )
    }
}

@Suite("Circuit")
struct CircuitTests {
    /// Facts of https://resilience4j.readme.io/docs/circuitbreaker, in the order of the page.
    ///
    /// Left out, because a circuit has no such thing: the slow call rate, the states DISABLED and METRICS_ONLY, and
    /// the automatic transition to half-open without a call.
    static let resilience4j: [CircuitCase] = [
        .init("A circuit begins closed", .sample(), [], .closed),
        .init(
            "A window by count aggregates the last N calls, and the oldest one leaves",
            .sample(ratio: 0.2, minimum: 10), [.failure] + CircuitStep.successes(10) + [.failure], .closed
        ),
        .init(
            "While the oldest failure is among the last N calls, it counts",
            .sample(ratio: 0.2, minimum: 10), [.failure] + CircuitStep.successes(8) + [.failure], .open
        ),
        .init(
            "A window by time aggregates the calls of the last N seconds",
            .sample(minimum: 2, window: .time(.seconds(10))), [.failure, .wait(9), .failure], .open
        ),
        .init(
            "Calls older than N seconds have left a window by time",
            .sample(minimum: 2, window: .time(.seconds(10))), [.failure, .wait(10), .failure], .closed
        ),
        .init(
            "A failure rate equal to the threshold opens the circuit",
            .sample(minimum: 4), [.success, .success, .failure, .failure], .open
        ),
        .init(
            "A failure rate greater than the threshold opens the circuit",
            .sample(minimum: 4), [.success, .failure, .failure, .failure], .open
        ),
        .init(
            "A failure rate below the threshold leaves the circuit closed",
            .sample(minimum: 4), [.success, .success, .success, .failure], .closed
        ),
        .init(
            "An ignored call counts neither as a success nor as a failure",
            .sample(minimum: 2), [.failure] + Array(repeating: .call(.ignored), count: 20), .closed
        ),
        .init(
            "With a minimum of 10 calls, 9 failures leave the circuit closed",
            .sample(minimum: 10), CircuitStep.failures(9), .closed
        ),
        .init("With a minimum of 10 calls, 10 failures open it", .sample(minimum: 10), CircuitStep.failures(10), .open),
        .init(
            "The rate is calculated after each call, also after a success",
            .sample(minimum: 10), CircuitStep.failures(9) + [.success], .open
        ),
        .init(
            "A minimum larger than a window by count is the size of the window",
            .sample(minimum: 100, window: .count(10)), CircuitStep.failures(10), .open
        ),
        .init("An open circuit refuses calls", .sample(), CircuitStep.failures(2) + [.refused(retryAfter: 1)], .open),
        .init(
            "After the wait duration, the circuit is half-open and permits calls",
            .sample(), CircuitStep.failures(2) + [.wait(1), .begin], .halfOpen
        ),
        .init(
            "Without a call, the circuit remains open after the wait duration",
            .sample(), CircuitStep.failures(2) + [.wait(5)], .open
        ),
        .init(
            "Half-open, calls beyond the permitted number are refused until all permitted ones have completed",
            .sample(probes: 3),
            CircuitStep.failures(2) + [.wait(1), .begin, .begin, .begin, .refused, .end(0, .success), .refused],
            .halfOpen
        ),
        .init(
            "Half-open, the circuit opens if the rate of the permitted calls reaches the threshold",
            .sample(probes: 4), CircuitStep.failures(2) + [.wait(1), .failure, .success, .failure, .success], .open
        ),
        .init(
            "Half-open, the circuit closes if the rate of the permitted calls is below the threshold",
            .sample(probes: 4), CircuitStep.failures(2) + [.wait(1), .failure, .success, .success, .success], .closed
        ),
        .init(
            "Half-open, the rate is not judged before all permitted calls have completed",
            .sample(probes: 4), CircuitStep.failures(2) + [.wait(1), .failure, .failure, .failure], .halfOpen
        ),
        .init(
            "After the maximum wait duration in the half-open state, the circuit is open",
            .sample(probes: 2, timeout: 5),
            CircuitStep.failures(2) + [.wait(1), .success, .begin, .wait(5), .refused(retryAfter: 1)], .open
        ),
        .init(
            "Within the maximum wait duration, the circuit remains half-open",
            .sample(probes: 2, timeout: 5),
            CircuitStep.failures(2) + [.wait(1), .success, .begin, .wait(4.9), .refused], .halfOpen
        ),
        .init("Forced open, the circuit refuses calls", .sample(), [.isolate, .refused], .isolated),
        .init("Forced open, only a reset leaves the state", .sample(), [.isolate, .wait(1_000), .refused], .isolated),
        .init("A reset closes the circuit", .sample(), CircuitStep.failures(2) + [.reset, .success], .closed),
        .init("A reset loses all outcomes", .sample(minimum: 2), [.failure, .reset, .failure], .closed),
        .init(
            "The window does not limit the concurrent calls of a closed circuit",
            .sample(window: .count(15)), Array(repeating: .begin, count: 20), .closed
        ),
    ]

    /// The state diagram and the sequence diagrams of https://www.pollydocs.org/strategies/circuit-breaker, with
    /// their settings, and what the page says about the manual control.
    static let polly: [CircuitCase] = [
        .init(
            "Simple, happy: two successes and a failure stay below the ratio",
            .polly, [.success, .success, .failure], .closed
        ),
        .init(
            "Simple, unhappy: a success and a failure reach the ratio, and the third call is refused",
            .polly, [.success, .failure, .refused(retryAfter: 1)], .open
        ),
        .init(
            "Complex, happy: after the break, a probe succeeds and closes the circuit",
            .polly, [.failure, .failure, .refused(retryAfter: 1), .wait(1), .success], .closed
        ),
        .init(
            "Complex, unhappy: after the break, a probe fails and opens the circuit",
            .polly, [.failure, .failure, .refused(retryAfter: 1), .wait(1), .failure], .open
        ),
        .init(
            "A failed probe begins another break of the same length",
            .polly, [.failure, .failure, .wait(1), .failure, .wait(0.25), .refused(retryAfter: 0.75)], .open
        ),
        .init(
            "Half-open, one execution passes and the others are refused",
            .polly, [.failure, .failure, .wait(1), .begin, .refused], .halfOpen
        ),
        .init(
            "The minimum throughput has to be reached within the sampling duration",
            .polly, [.failure, .wait(2), .failure, .wait(2), .failure], .closed
        ),
        .init(
            "With the defaults, 9 failures among 100 calls leave the circuit closed",
            .pollyDefaults, CircuitStep.successes(91) + CircuitStep.failures(9), .closed
        ),
        .init(
            "With the defaults, 10 failures among 100 calls open it",
            .pollyDefaults, CircuitStep.successes(90) + CircuitStep.failures(10), .open
        ),
        .init(
            "With the defaults, 99 failures are too few",
            .pollyDefaults, CircuitStep.failures(99), .closed
        ),
        .init(
            "With the defaults, the circuit stays open for 5 seconds",
            .pollyDefaults, CircuitStep.failures(100) + [.wait(4.5), .refused(retryAfter: 0.5)], .open
        ),
        .init(
            "With the defaults, a call passes after 5 seconds",
            .pollyDefaults, CircuitStep.failures(100) + [.wait(5), .begin], .halfOpen
        ),
        .init("Isolated manually, a closed circuit blocks", .polly, [.isolate, .refused], .isolated),
        .init(
            "Isolated manually, an open circuit does not become half-open",
            .polly, [.failure, .failure, .isolate, .wait(10), .refused], .isolated
        ),
        .init("Closed manually, an isolated circuit executes again", .polly, [.isolate, .reset, .success], .closed),
        .init(
            "Closed manually, an open circuit executes again",
            .polly, [.failure, .failure, .reset, .success], .closed
        ),
        .init(
            "An execution that ends in a later state has no effect on the circuit",
            .polly, [.begin, .begin, .end(0, .failure), .failure, .wait(1), .success, .end(1, .failure)], .closed
        ),
    ]

    @Test("The states and settings of Resilience4j's documentation hold", arguments: resilience4j)
    func resilience4jTable(_ row: CircuitCase) {
        #expect(row.run().state == row.state)
    }

    @Test("The states, diagrams and defaults of Polly's documentation hold", arguments: polly)
    func pollyTable(_ row: CircuitCase) {
        #expect(row.run().state == row.state)
    }

    @Test(
        "Outcomes of an earlier state, returned probes and long probes end as documented",
        arguments: [
            CircuitCase(
                "Failures that began before the circuit closed again do not count",
                .sample(minimum: 1),
                [.begin, .failure, .wait(1), .success, .end(0, .failure)], .closed
            ),
            CircuitCase(
                "A success from before the break closes nothing",
                .sample(minimum: 1), [.begin, .failure, .end(0, .success), .refused(retryAfter: 1)], .open
            ),
            CircuitCase(
                "A success from before the break is no probe",
                .sample(minimum: 1), [.begin, .failure, .wait(1), .begin, .end(0, .success), .refused], .halfOpen
            ),
            CircuitCase(
                "An ignored probe returns its permit",
                .sample(minimum: 1), [.failure, .wait(1), .begin, .refused, .end(0, .ignored), .success], .closed
            ),
            CircuitCase(
                "A probe whose head has arrived counts as a success after the time limit",
                .sample(minimum: 1, timeout: 5),
                [.failure, .wait(1), .begin, .head(0), .wait(5), .success], .closed
            ),
            CircuitCase(
                "A probe whose head has arrived and that fails in time is a failure",
                .sample(minimum: 1, timeout: 5),
                [.failure, .wait(1), .begin, .head(0), .wait(4), .end(0, .failure)], .open
            ),
            CircuitCase(
                "One probe without a head opens the circuit after the time limit, although another has one",
                .sample(minimum: 1, probes: 2, timeout: 5),
                [.failure, .wait(1), .begin, .begin, .head(0), .wait(5), .refused(retryAfter: 1)], .open
            ),
            CircuitCase(
                "The break after the time limit begins at the limit, not at the next call",
                .sample(minimum: 1, timeout: 5),
                [.failure, .wait(1), .begin, .wait(5.75), .refused(retryAfter: 0.25), .wait(0.25), .begin], .halfOpen
            ),
            CircuitCase(
                "A half-open circuit whose probes were all returned waits without a limit",
                .sample(minimum: 1, timeout: 5),
                [.failure, .wait(1), .call(.ignored), .wait(100), .begin, .wait(4), .refused], .halfOpen
            ),
            CircuitCase(
                "A new window begins when the circuit closes",
                .sample(minimum: 2), [.failure, .failure, .wait(1), .success, .failure], .closed
            ),
            CircuitCase("A reset of a closed circuit ignores running calls", .sample(minimum: 1), [
                .begin, .reset, .end(0, .failure),
            ], .closed),
        ]
    )
    func generations(_ row: CircuitCase) {
        #expect(row.run().state == row.state)
    }

    @Test("Each change of the state is reported once and in order")
    func changes() {
        var circuit = Circuit(.sample(minimum: 1, timeout: 5))
        func pass(_ now: Double) -> Circuit.Permit? {
            guard case .passes(let permit) = circuit.admit(at: .seconds(now)) else { return nil }
            return permit
        }
        if let permit = pass(0) { circuit.end(permit, .failure, at: .zero) }
        #expect(circuit.takeChanges() == [.init(old: .closed, new: .open)])
        #expect(pass(1) != nil)
        // The limit of the probe ends at 6 and the break at 7, both before the next call.
        #expect(pass(7) != nil)
        #expect(
            circuit.takeChanges() == [
                .init(old: .open, new: .halfOpen), .init(old: .halfOpen, new: .open), .init(old: .open, new: .halfOpen),
            ]
        )
        circuit.isolate()
        circuit.isolate()
        circuit.reset()
        circuit.reset()
        #expect(
            circuit.takeChanges() == [.init(old: .halfOpen, new: .isolated), .init(old: .isolated, new: .closed)]
        )
        #expect(circuit.takeChanges() == [])
    }

    @Test("A permit for a closed circuit needs no time, and there is none in any other state")
    func closedPermit() {
        var circuit = Circuit(.sample(minimum: 1))
        let permit = circuit.closedPermit
        #expect(permit != nil)
        if let permit { circuit.end(permit, .failure, at: .zero) }
        #expect(circuit.closedPermit == nil)
        #expect(!circuit.isIdle)
        circuit.reset()
        #expect(circuit.closedPermit != permit)
        #expect(circuit.isIdle)
    }
}

extension CircuitRules {
    /// The settings of Polly's diagrams.
    fileprivate static let polly = sample(ratio: 0.5, minimum: 2, window: .time(.seconds(2)), breaks: 1)
    /// The defaults of Polly.
    fileprivate static let pollyDefaults = sample(ratio: 0.1, minimum: 100, window: .time(.seconds(30)), breaks: 5)
}
