import Pipeline
import TestSupport
import Testing

@testable import PipelineResilience

@Suite("Circuit: the documentation of Resilience4j", .watched)
struct CircuitResilience4jTests {
    /// Facts of https://resilience4j.readme.io/docs/circuitbreaker, in the order of the page.
    ///
    /// Left out, because a circuit has no such thing: the slow call rate, the states DISABLED and METRICS_ONLY, and
    /// the automatic transition to half-open without a call.
    private static let rows: [CircuitCase] = [
        .init("A circuit begins closed", .sample(), [], .closed),
        .init(
            "A window by count aggregates the last N calls, and the oldest one leaves",
            .sample(ratio: 0.2, minimum: 10),
            [.failure] + CircuitStep.successes(10) + [.failure],
            .closed
        ),
        .init(
            "While the oldest failure is among the last N calls, it counts",
            .sample(ratio: 0.2, minimum: 10),
            [.failure] + CircuitStep.successes(8) + [.failure],
            .open
        ),
        .init(
            "A window by time aggregates the calls of the last N seconds",
            .sample(minimum: 2, window: .time(.seconds(10))),
            [.failure, .wait(9), .failure],
            .open
        ),
        .init(
            "Calls older than N seconds have left a window by time",
            .sample(minimum: 2, window: .time(.seconds(10))),
            [.failure, .wait(10), .failure],
            .closed
        ),
        .init(
            "A failure rate equal to the threshold opens the circuit",
            .sample(minimum: 4),
            [.success, .success, .failure, .failure],
            .open
        ),
        .init(
            "A failure rate greater than the threshold opens the circuit",
            .sample(minimum: 4),
            [.success, .failure, .failure, .failure],
            .open
        ),
        .init(
            "A failure rate below the threshold leaves the circuit closed",
            .sample(minimum: 4),
            [.success, .success, .success, .failure],
            .closed
        ),
        .init(
            "An ignored call counts neither as a success nor as a failure",
            .sample(minimum: 2),
            [.failure] + Array(repeating: .call(.ignored), count: 20),
            .closed
        ),
        .init(
            "With a minimum of 10 calls, 9 failures leave the circuit closed",
            .sample(minimum: 10),
            CircuitStep.failures(9),
            .closed
        ),
        .init("With a minimum of 10 calls, 10 failures open it", .sample(minimum: 10), CircuitStep.failures(10), .open),
        .init(
            "The rate is calculated after each call, also after a success",
            .sample(minimum: 10),
            CircuitStep.failures(9) + [.success],
            .open
        ),
        .init(
            "A minimum larger than a window by count is the size of the window",
            .sample(minimum: 100, window: .count(10)),
            CircuitStep.failures(10),
            .open
        ),
        .init("An open circuit refuses calls", .sample(), CircuitStep.failures(2) + [.refused(retryAfter: 1)], .open),
        .init(
            "After the wait duration, the circuit is half-open and permits calls",
            .sample(),
            CircuitStep.failures(2) + [.wait(1), .begin],
            .halfOpen
        ),
        .init(
            "Without a call, the circuit remains open after the wait duration",
            .sample(),
            CircuitStep.failures(2) + [.wait(5)],
            .open
        ),
        .init(
            "Half-open, calls beyond the permitted number are refused until all permitted ones have completed",
            .sample(probes: 3),
            CircuitStep.failures(2) + [.wait(1), .begin, .begin, .begin, .refused, .end(0, .success), .refused],
            .halfOpen
        ),
        .init(
            "Half-open, the circuit opens if the rate of the permitted calls reaches the threshold",
            .sample(probes: 4),
            CircuitStep.failures(2) + [.wait(1), .failure, .success, .failure, .success],
            .open
        ),
        .init(
            "Half-open, the circuit closes if the rate of the permitted calls is below the threshold",
            .sample(probes: 4),
            CircuitStep.failures(2) + [.wait(1), .failure, .success, .success, .success],
            .closed
        ),
        .init(
            "Half-open, the rate is not judged before all permitted calls have completed",
            .sample(probes: 4),
            CircuitStep.failures(2) + [.wait(1), .failure, .failure, .failure],
            .halfOpen
        ),
        .init(
            "After the maximum wait duration in the half-open state, the circuit is open",
            .sample(probes: 2, timeout: 5),
            CircuitStep.failures(2) + [.wait(1), .success, .begin, .wait(5), .refused(retryAfter: 1)],
            .open
        ),
        .init(
            "Within the maximum wait duration, the circuit remains half-open",
            .sample(probes: 2, timeout: 5),
            CircuitStep.failures(2) + [.wait(1), .success, .begin, .wait(0.9), .refused, .wait(3), .begin],
            .halfOpen
        ),
        .init("Forced open, the circuit refuses calls", .sample(), [.isolate, .refused], .isolated),
        .init("Forced open, only a reset leaves the state", .sample(), [.isolate, .wait(1_000), .refused], .isolated),
        .init("A reset closes the circuit", .sample(), CircuitStep.failures(2) + [.reset, .success], .closed),
        .init("A reset loses all outcomes", .sample(minimum: 2), [.failure, .reset, .failure], .closed),
        .init(
            "The window does not limit the concurrent calls of a closed circuit",
            .sample(window: .count(15)),
            Array(repeating: .begin, count: 20),
            .closed
        ),
    ]

    @Test("The states and settings of Resilience4j's documentation hold", arguments: rows)
    func table(_ row: CircuitCase) {
        #expect(row.run().state == row.state)
    }
}
