import Foundation
public import Pipeline

/// The wait before a retry.
///
/// ```swift
/// RetryPlugin(backoff: .exponential(base: .seconds(1), cap: .seconds(10)))
/// RetryPlugin(backoff: .immediate)
/// RetryPlugin(backoff: RetryBackoff { attempt, random in .milliseconds(100 * attempt) })
/// ```
///
/// With full jitter, the default, a wait is anywhere between zero and the bound, so that callers that failed at the same time
/// do not retry at the same time. Calls that shared one exchange of a ``DeduplicationPlugin`` draw the same numbers: they retry
/// at the same time, with one exchange.
///
/// Source: https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/
public struct RetryBackoff: Sendable {
    private let makeDelay: @Sendable (Int, inout PipelineRandom) -> Duration

    /// Waits as long as a closure says.
    ///
    /// - Parameter delay: gets the number of the attempt that failed, from 1, and random numbers, which are the provider's or those of
    ///   the calls that shared the attempt; a negative result means no wait.
    public init(delay: @escaping @Sendable (_ attempt: Int, _ random: inout PipelineRandom) -> Duration) {
        makeDelay = delay
    }

    /// No wait.
    public static let immediate = RetryBackoff { _, _ in .zero }

    /// Waits each time for the same time.
    public static func constant(_ delay: Duration) -> RetryBackoff {
        precondition(delay >= .zero, "the delay is \(delay), not 0 or more")
        return RetryBackoff { _, _ in delay }
    }

    /// Waits for longer from attempt to attempt, and each time for a time left to chance.
    ///
    /// The bound after attempt n is `base` · `factor`ⁿ⁻¹, and never more than `cap`.
    ///
    /// - Parameters:
    ///   - base: the bound after the first attempt, more than zero; default 500 ms.
    ///   - factor: by what the bound grows, 1 and up; default 2.
    ///   - cap: the highest bound, `base` and up; default 30 s.
    ///   - jitter: how much of the wait is left to chance, `0...1`; default 1, all of it.
    /// - Returns: the backoff.
    public static func exponential(
        base: Duration = .milliseconds(500),
        factor: Double = 2,
        cap: Duration = .seconds(30),
        jitter: Double = 1
    ) -> RetryBackoff {
        precondition(base > .zero, "base is \(base), not more than zero")
        precondition(factor >= 1 && factor.isFinite, "factor is \(factor), not 1 or more")
        precondition(cap >= base, "cap is \(cap), less than the base of \(base)")
        precondition((0...1).contains(jitter), "jitter is \(jitter), not in 0...1")
        return RetryBackoff { attempt, random in
            // The growth of a large number is infinite, and the cap is still the lesser.
            let growth = pow(factor, Double(max(attempt, 1) - 1))
            let bound = min(base / .seconds(1) * growth, cap / .seconds(1))
            let chance = jitter > 0 ? Double.random(in: 0...1, using: &random) : 0
            return min(.seconds(bound * (1 - jitter * chance)), cap)
        }
    }

    /// The wait after an attempt that failed.
    ///
    /// - Parameters:
    ///   - attempt: the number of the attempt, from 1.
    ///   - random: the source of chance.
    /// - Returns: the wait, zero and up.
    public func delay(afterAttempt attempt: Int, using random: inout PipelineRandom) -> Duration {
        max(.zero, makeDelay(attempt, &random))
    }
}
