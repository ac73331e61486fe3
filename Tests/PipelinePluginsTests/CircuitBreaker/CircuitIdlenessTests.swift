import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelinePlugins

@Suite("Idle circuits", .watched)
struct CircuitIdlenessTests {
    @Test("A closed circuit is idle once its failures have left the window by time")
    func window() {
        let rules = CircuitRules.sample(minimum: 9, window: .time(.seconds(10)))
        let circuit = SharedCircuit(Circuit(rules), name: nil, changes: CircuitChanges())
        let manual = ManualClock()
        let clock = PipelineClock(manual)
        guard case .passes(let permit) = circuit.admit(on: clock) else {
            Issue.record("A closed circuit has refused a request.")
            return
        }
        _ = circuit.end(permit, .failure, hadHead: true, cause: nil, on: clock)
        #expect(!circuit.isIdle(at: clock.now))
        manual.advance(by: .seconds(12))
        #expect(circuit.isIdle(at: clock.now))
    }
}
