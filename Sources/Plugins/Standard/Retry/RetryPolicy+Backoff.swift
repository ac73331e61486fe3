import Foundation
public import PipelineCore

extension RetryPolicy {
    /// The wait before each retry.
    ///
    /// ```swift
    /// RetryPlugin(backoff: .exponential(base: .seconds(1), cap: .seconds(10)))
    /// RetryPlugin(backoff: .immediate)
    /// RetryPlugin(backoff: RetryPolicy.Backoff { attempt, random in .milliseconds(100 * attempt) })
    /// ```
    ///
    /// With full jitter, the default, a wait is anywhere between zero and the upper bound, so that callers that failed
    /// at the same time do not retry at the same time. Calls that shared one exchange of a ``DeduplicationPlugin`` draw
    /// the same numbers, so they retry at the same time, with one exchange.
    ///
    /// Source: https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/
    public struct Backoff: Sendable {
        private let makeDelay: @Sendable (Int, inout PipelineRandom) -> Duration

        /// Makes a backoff that waits as long as a closure says.
        ///
        /// - Parameter delay: returns the wait; a negative one means no wait. It gets the number of the failed attempt,
        ///   from 1, and random numbers from the provider or from the calls that shared the attempt.
        public init(delay: @escaping @Sendable (_ attempt: Int, _ random: inout PipelineRandom) -> Duration) {
            makeDelay = delay
        }

        /// Retries without a wait.
        public static let immediate = RetryPolicy.Backoff { _, _ in .zero }

        /// Returns a backoff with the same wait before each retry.
        public static func constant(_ delay: Duration) -> RetryPolicy.Backoff {
            precondition(delay >= .zero, "the delay is \(delay), not 0 or more")
            return RetryPolicy.Backoff { _, _ in delay }
        }

        /// Returns a backoff whose waits grow with each attempt and are randomized.
        ///
        /// The upper bound after attempt n is `base` · `factor`ⁿ⁻¹, but at most `cap`.
        ///
        /// - Parameters:
        ///   - base: the bound after the first attempt, more than zero; defaults to 500 ms.
        ///   - factor: the factor by which the bound grows, 1 and up; defaults to 2.
        ///   - cap: the highest bound, `base` and up; defaults to 30 s.
        ///   - jitter: the share of the wait that is random, `0...1`; defaults to 1, all of it.
        /// - Returns: the backoff.
        public static func exponential(
            base: Duration = .milliseconds(500),
            factor: Double = 2,
            cap: Duration = .seconds(30),
            jitter: Double = 1
        ) -> RetryPolicy.Backoff {
            precondition(base > .zero, "base is \(base), not more than zero")
            precondition(factor >= 1 && factor.isFinite, "factor is \(factor), not 1 or more")
            precondition(cap >= base, "cap is \(cap), less than the base of \(base)")
            precondition((0...1).contains(jitter), "jitter is \(jitter), not in 0...1")
            return RetryPolicy.Backoff { attempt, random in
                // The growth may overflow to infinity; `min` then returns the cap.
                let growth = pow(factor, Double(max(attempt, 1) - 1))
                let bound = min(base / .seconds(1) * growth, cap / .seconds(1))
                let chance = jitter > 0 ? Double.random(in: 0...1, using: &random) : 0
                return min(.seconds(bound * (1 - jitter * chance)), cap)
            }
        }

        /// Returns the wait after a failed attempt.
        ///
        /// - Parameters:
        ///   - attempt: the number of the attempt, from 1.
        ///   - random: the source of random numbers.
        /// - Returns: the wait, zero and up.
        public func delay(afterAttempt attempt: Int, using random: inout PipelineRandom) -> Duration {
            max(.zero, makeDelay(attempt, &random))
        }
    }
}
