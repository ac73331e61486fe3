import Pipeline
import TestSupport
import Testing

@testable import PipelineResilience

@Suite("Circuit: the documentation of Polly", .watched)
struct CircuitPollyTests {
    /// The state diagram and the sequence diagrams of https://www.pollydocs.org/strategies/circuit-breaker, with
    /// their settings, and what the page says about the manual control.
    private static let rows: [CircuitCase] = [
        .init(
            "Simple, happy: two successes and a failure stay below the ratio",
            .polly,
            [.success, .success, .failure],
            .closed
        ),
        .init(
            "Simple, unhappy: a success and a failure reach the ratio, and the third call is refused",
            .polly,
            [.success, .failure, .refused(retryAfter: 1)],
            .open
        ),
        .init(
            "Complex, happy: after the break, a probe succeeds and closes the circuit",
            .polly,
            [.failure, .failure, .refused(retryAfter: 1), .wait(1), .success],
            .closed
        ),
        .init(
            "Complex, unhappy: after the break, a probe fails and opens the circuit",
            .polly,
            [.failure, .failure, .refused(retryAfter: 1), .wait(1), .failure],
            .open
        ),
        .init(
            "A failed probe begins another break of the same length",
            .polly,
            [.failure, .failure, .wait(1), .failure, .wait(0.25), .refused(retryAfter: 0.75)],
            .open
        ),
        .init(
            "Half-open, one execution passes and the others are refused",
            .polly,
            [.failure, .failure, .wait(1), .begin, .refused],
            .halfOpen
        ),
        .init(
            "The minimum throughput has to be reached within the sampling duration",
            .polly,
            [.failure, .wait(2), .failure, .wait(2), .failure],
            .closed
        ),
        .init(
            "With the defaults, 9 failures among 100 calls leave the circuit closed",
            .pollyDefaults,
            CircuitStep.successes(91) + CircuitStep.failures(9),
            .closed
        ),
        .init(
            "With the defaults, 10 failures among 100 calls open it",
            .pollyDefaults,
            CircuitStep.successes(90) + CircuitStep.failures(10),
            .open
        ),
        .init(
            "With the defaults, 99 failures are too few",
            .pollyDefaults,
            CircuitStep.failures(99),
            .closed
        ),
        .init(
            "With the defaults, the circuit stays open for 5 seconds",
            .pollyDefaults,
            CircuitStep.failures(100) + [.wait(4.5), .refused(retryAfter: 0.5)],
            .open
        ),
        .init(
            "With the defaults, a call passes after 5 seconds",
            .pollyDefaults,
            CircuitStep.failures(100) + [.wait(5), .begin],
            .halfOpen
        ),
        .init("Isolated manually, a closed circuit blocks", .polly, [.isolate, .refused], .isolated),
        .init(
            "Isolated manually, an open circuit does not become half-open",
            .polly,
            [.failure, .failure, .isolate, .wait(10), .refused],
            .isolated
        ),
        .init("Closed manually, an isolated circuit executes again", .polly, [.isolate, .reset, .success], .closed),
        .init(
            "Closed manually, an open circuit executes again",
            .polly,
            [.failure, .failure, .reset, .success],
            .closed
        ),
        .init(
            "An execution that ends in a later state has no effect on the circuit",
            .polly,
            [.begin, .begin, .end(0, .failure), .failure, .wait(1), .success, .end(1, .failure)],
            .closed
        ),
    ]

    @Test("The states, diagrams and defaults of Polly's documentation hold", arguments: rows)
    func table(_ row: CircuitCase) {
        #expect(row.run().state == row.state)
    }
}

extension CircuitRules {
    /// The settings of Polly's diagrams.
    fileprivate static let polly = sample(ratio: 0.5, minimum: 2, window: .time(.seconds(2)), breaks: 1)
    /// The defaults of Polly.
    fileprivate static let pollyDefaults = sample(ratio: 0.1, minimum: 100, window: .time(.seconds(30)), breaks: 5)
}
