import Pipeline
import Testing

@testable import PipelineResilience

/// A step of a case of a circuit.
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
