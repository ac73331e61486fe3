import Pipeline
import TestSupport
import Testing

@testable import PipelineResilience
@testable import PipelineTesting

@Suite("Circuit", .watched)
struct CircuitTests {
    @Test("V04: as long as a probe hangs, another one passes for each further break, and the first to end decides")
    func hangingProbe() {
        let steps: [CircuitStep] = [.failure, .wait(1), .begin, .wait(0.9), .refused, .wait(0.1), .begin, .refused]
        #expect(CircuitCase("hanging", .sample(minimum: 1), steps, .halfOpen).run().state == .halfOpen)
        let more: [CircuitStep] = [.wait(1), .begin, .refused]
        #expect(CircuitCase("longer", .sample(minimum: 1), steps + more, .halfOpen).run().state == .halfOpen)
        let success: [CircuitStep] = [.end(1, .success), .end(0, .failure), .success]
        #expect(CircuitCase("success", .sample(minimum: 1), steps + success, .closed).run().state == .closed)
        let failure: [CircuitStep] = [.end(1, .failure), .end(0, .success)]
        #expect(CircuitCase("failure", .sample(minimum: 1), steps + failure, .open).run().state == .open)
    }

    @Test("While a probe hangs, the next one waits for a break of the latest length")
    func hangingProbeOfLongBreak() {
        var rules = CircuitRules.sample(minimum: 1)
        rules.maximumBreakDuration = .seconds(60)
        var circuit = Circuit(rules, random: .seeded(1))
        func passes(_ seconds: Double) -> Circuit.Permit? {
            guard case .passes(let permit) = circuit.admit(at: .seconds(seconds)) else { return nil }
            return permit
        }
        if let first = passes(0) { circuit.end(first, .failure, at: .zero) }
        // The first break takes 0.8 to 1.2 s, and the second one 1.28 to 2.88 s.
        if let probe = passes(1.2) { circuit.end(probe, .failure, at: .seconds(1.2)) }
        #expect(passes(4.1) != nil)
        #expect(passes(5.3) == nil)
        #expect(passes(7) != nil)
    }

    @Test("V04: clients whose circuits open together do not all send their first probe together, if breaks may vary")
    func firstBreak() {
        func breaks(upTo maximum: Duration?) -> Set<Duration> {
            var rules = CircuitRules.sample(minimum: 1)
            rules.maximumBreakDuration = maximum
            let breaks = (0..<UInt64(100)).map { seed in
                var circuit = Circuit(rules, random: .seeded(seed))
                guard case .passes(let permit) = circuit.admit(at: .zero) else { return Duration.zero }
                circuit.end(permit, .failure, at: .zero)
                return circuit.remainingBreak(at: .zero) ?? .zero
            }
            return Set(breaks)
        }
        #expect(breaks(upTo: nil) == [.seconds(1)])
        let varied = breaks(upTo: .seconds(5))
        #expect(varied.count == 100 && varied.allSatisfy { (.seconds(0.8) ... .seconds(1.2)).contains($0) })
        #expect(breaks(upTo: .seconds(1)).allSatisfy { $0 <= .seconds(1) })
    }

    @Test("A probe whose head has arrived is not followed by another one")
    func headOfProbe() {
        let steps: [CircuitStep] = [.failure, .wait(1), .begin, .head(0), .wait(20), .refused]
        #expect(CircuitCase("head", .sample(minimum: 1), steps, .halfOpen).run().state == .halfOpen)
    }

    @Test(
        "Outcomes of an earlier state, returned probes and long probes end as documented",
        arguments: [
            CircuitCase(
                "Failures that began before the circuit closed again do not count",
                .sample(minimum: 1),
                [.begin, .failure, .wait(1), .success, .end(0, .failure)],
                .closed
            ),
            CircuitCase(
                "A success from before the break closes nothing",
                .sample(minimum: 1),
                [.begin, .failure, .end(0, .success), .refused(retryAfter: 1)],
                .open
            ),
            CircuitCase(
                "A success from before the break is no probe",
                .sample(minimum: 1),
                [.begin, .failure, .wait(1), .begin, .end(0, .success), .refused],
                .halfOpen
            ),
            CircuitCase(
                "An ignored probe returns its permit",
                .sample(minimum: 1),
                [.failure, .wait(1), .begin, .refused, .end(0, .ignored), .success],
                .closed
            ),
            CircuitCase(
                "A probe whose head has arrived counts as a success after the time limit",
                .sample(minimum: 1, timeout: 5),
                [.failure, .wait(1), .begin, .head(0), .wait(5), .success],
                .closed
            ),
            CircuitCase(
                "A probe whose head has arrived and that fails in time is a failure",
                .sample(minimum: 1, timeout: 5),
                [.failure, .wait(1), .begin, .head(0), .wait(4), .end(0, .failure)],
                .open
            ),
            CircuitCase(
                "One probe without a head opens the circuit after the time limit, although another has one",
                .sample(minimum: 1, probes: 2, timeout: 5),
                [.failure, .wait(1), .begin, .begin, .head(0), .wait(5), .refused(retryAfter: 1)],
                .open
            ),
            CircuitCase(
                "The break after the time limit begins at the limit, not at the next call",
                .sample(minimum: 1, timeout: 5),
                [.failure, .wait(1), .begin, .wait(5.75), .refused(retryAfter: 0.25), .wait(0.25), .begin],
                .halfOpen
            ),
            CircuitCase(
                "A half-open circuit whose probes were all returned waits without a limit",
                .sample(minimum: 1, timeout: 5),
                [.failure, .wait(1), .call(.ignored), .wait(100), .begin, .wait(0.9), .refused],
                .halfOpen
            ),
            CircuitCase(
                "A new window begins when the circuit closes",
                .sample(minimum: 2),
                [.failure, .failure, .wait(1), .success, .failure],
                .closed
            ),
            CircuitCase(
                "A reset of a closed circuit ignores running calls",
                .sample(minimum: 1),
                [
                    .begin, .reset, .end(0, .failure),
                ],
                .closed
            ),
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
        #expect(!circuit.isIdle(at: .zero))
        circuit.reset()
        #expect(circuit.closedPermit != permit)
        #expect(circuit.isIdle(at: .zero))
    }

    @Test("A circuit needs less than 2 KB, also with the largest window")
    func size() {
        #expect(MemoryLayout<Circuit>.size + 10_000 / 8 < 2_000)
    }
}
