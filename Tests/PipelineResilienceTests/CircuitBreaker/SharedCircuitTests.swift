import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineResilience

@Suite("SharedCircuit", .watched)
struct SharedCircuitTests {
    private let manual = ManualClock()
    private var clock: PipelineClock { PipelineClock(manual) }

    private func circuit(minimum: Int) -> SharedCircuit {
        let rules = CircuitRules.sample(minimum: minimum, window: .time(.seconds(10)))
        return SharedCircuit(Circuit(rules), name: nil, changes: CircuitChanges())
    }

    /// Returns the permit of a request, which passes.
    private func permit(of circuit: SharedCircuit) throws -> Circuit.Permit {
        guard case .passes(let permit) = circuit.admit(on: clock) else {
            throw PipelineError(.circuitOpen, "the circuit has refused a request")
        }
        return permit
    }

    @Test("A closed circuit is idle once its failures have left the window by time")
    func window() throws {
        let circuit = circuit(minimum: 9)
        _ = circuit.end(try permit(of: circuit), .failure, hadHead: true, cause: nil, on: clock)
        #expect(!circuit.isIdle(at: clock.now))
        manual.advance(by: .seconds(12))
        #expect(circuit.isIdle(at: clock.now))
    }

    @Test("A failure that ends after the circuit has changed is not the cause of its refusals")
    func straggler() throws {
        let circuit = circuit(minimum: 1)
        let (straggler, failure) = (try permit(of: circuit), try permit(of: circuit))
        let cause = PipelineError.RefusalCause(code: .unacceptableStatus, statusCode: 503)
        #expect(circuit.end(failure, .failure, hadHead: false, cause: cause, on: clock) == .open)
        let late = PipelineError.RefusalCause(code: .connectionLost, statusCode: nil)
        #expect(circuit.end(straggler, .failure, hadHead: false, cause: late, on: clock) == nil)
        #expect(circuit.cause == cause)
    }
}
