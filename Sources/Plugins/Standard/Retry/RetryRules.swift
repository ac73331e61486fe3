import Foundation
import PipelineCore

/// The rules for the attempts of one call.
struct RetryRules: Sendable {
    /// The step after an attempt.
    enum Step: Sendable, Hashable {
        /// Ends the call with the outcome; the reason is set if the policy wanted a retry.
        case giveBack(PipelineExchange.RetryRefusal?)
        /// Retries after this wait.
        case retry(after: Duration)
    }

    var maximumAttempts: Int
    var policy: RetryPolicy
    var backoff: RetryBackoff
    var connectivityWait: RetryPlugin.ConnectivityWait

    /// Returns these rules with the overrides of one request.
    func overridden(by other: RetryPlugin.Override) -> RetryRules {
        RetryRules(
            maximumAttempts: other.maximumAttempts ?? maximumAttempts,
            policy: other.policy ?? policy,
            backoff: other.backoff ?? backoff,
            connectivityWait: other.connectivityWait ?? connectivityWait
        )
    }

    /// Decides whether to retry after an attempt, without regard to the budget.
    ///
    /// - Parameters:
    ///   - outcome: the outcome of the attempt.
    ///   - date: the current date.
    ///   - remaining: the time from the outcome to the deadline of the call, `nil` without a deadline.
    ///   - random: the source of random numbers, called only if the policy wants a retry.
    /// - Returns: the end of the call, or the wait between the outcome and the next attempt.
    func step(
        after outcome: RetryPolicy.Outcome,
        at date: Date,
        remaining: Duration?,
        random: () -> PipelineRandom
    ) -> Step {
        switch policy.decision(after: outcome) {
        case .retryUnprocessed: break
        case .retry:
            guard policy.allowsRepeating(outcome.request) else { return .giveBack(.methodNotIdempotent) }
        default: return .giveBack(nil)
        }
        let body = outcome.request.body
        guard body.isReplayable || !body.isConsumed else { return .giveBack(.bodyNotReplayable) }
        guard outcome.attempt < maximumAttempts else { return .giveBack(.attemptsUsedUp) }
        var random = random()
        var delay = backoff.delay(afterAttempt: outcome.attempt, using: &random)
        if let asked = outcome.response?.retryAfter(now: date) {
            guard asked <= policy.maximumRetryAfter else { return .giveBack(.retryAfterTooLong) }
            delay = max(delay, asked)
        }
        if let remaining, delay >= remaining { return .giveBack(.deadline) }
        return .retry(after: delay)
    }
}
