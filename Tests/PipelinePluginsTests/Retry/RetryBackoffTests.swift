import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("RetryPolicy.Backoff", .watched)
struct RetryBackoffTests {
    private static func delays(_ backoff: RetryPolicy.Backoff, _ attempts: [Int], seed: UInt64 = 1) -> [Duration] {
        var random = PipelineRandom.seeded(seed)
        return attempts.map { backoff.delay(afterAttempt: $0, using: &random) }
    }

    @Test("Without jitter the wait doubles from 500 ms up to 30 s, even at attempt 10,000")
    func growth() {
        let delays = Self.delays(.exponential(jitter: 0), [1, 2, 3, 4, 5, 6, 7, 8, 10_000, .max, 0, .min])
        let seconds: [Double] = [0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30, 0.5, 0.5]
        #expect(delays == seconds.map { .seconds($0) })
    }

    @Test(
        "10,000 waits with full jitter stay within their bound, with a mean of half of it",
        arguments: [(1, 0.5), (3, 2.0), (7, 30.0), (10_000, 30.0)]
    )
    func jitter(attempt: Int, bound: Double) {
        let delays = Self.delays(.exponential(), Array(repeating: attempt, count: 10_000))
        let seconds = delays.map { $0 / .seconds(1) }
        #expect(seconds.allSatisfy { (0...bound).contains($0) })
        let mean = seconds.reduce(0, +) / 10_000
        #expect(abs(mean - bound / 2) < 0.03 * bound / 2)
        // The standard deviation is that of a uniform distribution.
        let deviation = (seconds.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / 10_000).squareRoot()
        #expect(abs(deviation - bound / 12.0.squareRoot()) < 0.03 * bound)
    }

    @Test("Partial jitter leaves a fixed minimum wait")
    func partialJitter() {
        let delays = Self.delays(.exponential(jitter: 0.25), Array(repeating: 1, count: 1_000))
        #expect(delays.allSatisfy { $0 >= .milliseconds(375) && $0 <= .milliseconds(500) })
        #expect((delays.min() ?? .zero) < .milliseconds(380))
        #expect((delays.max() ?? .zero) > .milliseconds(495))
    }

    @Test("Jitter comes from the provider's random numbers")
    func seeded() async {
        let plugins = [RetryPlugin(maximumAttempts: 5)]
        let first = RetryBench(ScriptedTransport(always: .status(503)), plugins)
        let second = RetryBench(ScriptedTransport(always: .status(503)), plugins)
        _ = await first.outcome()
        _ = await second.outcome()
        #expect(first.clock.waits == second.clock.waits)
        #expect(first.clock.waits == Self.delays(.exponential(), [1, 2, 3, 4]))
        _ = await first.outcome()
        #expect(Array(first.clock.waits.suffix(4)) != second.clock.waits)
    }

    @Test("A backoff can use other settings, a constant wait, no wait or a closure")
    func others() {
        let slow = RetryPolicy.Backoff.exponential(base: .seconds(1), factor: 3, cap: .seconds(5), jitter: 0)
        #expect(Self.delays(slow, [1, 2, 3]) == [.seconds(1), .seconds(3), .seconds(5)])
        let even = RetryPolicy.Backoff.exponential(base: .seconds(1), factor: 1, cap: .seconds(Int64.max), jitter: 0)
        #expect(Self.delays(even, [1, 9, .max]) == [.seconds(1), .seconds(1), .seconds(1)])
        let endless = RetryPolicy.Backoff.exponential(cap: .seconds(Int64.max), jitter: 0)
        #expect(Self.delays(endless, [10_000]) == [.seconds(Int64.max)])
        #expect(Self.delays(.constant(.seconds(2)), [1, 9]) == [.seconds(2), .seconds(2)])
        #expect(Self.delays(.immediate, [1, 9]) == [.zero, .zero])
        let own = RetryPolicy.Backoff { attempt, _ in .seconds(3 - attempt) }
        #expect(Self.delays(own, [1, 2, 4]) == [.seconds(2), .seconds(1), .zero])
    }
}
