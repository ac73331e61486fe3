import Foundation
import Pipeline

/// What holds for the attempts of one call.
struct RetryRules: Sendable {
    /// What follows an attempt.
    enum Step: Sendable, Hashable {
        /// Its outcome is that of the call; with a reason when it called for another attempt.
        case giveBack(PipelineExchange.RetryRefusal?)
        /// Another attempt after this wait.
        case retry(after: Duration)
    }

    var maximumAttempts: Int
    var policy: RetryPolicy
    var backoff: RetryBackoff
    var connectivityWait: RetryPlugin.ConnectivityWait

    /// These rules with those of one request over them.
    func overridden(by other: RetryPlugin.Override) -> RetryRules {
        RetryRules(
            maximumAttempts: other.maximumAttempts ?? maximumAttempts,
            policy: other.policy ?? policy,
            backoff: other.backoff ?? backoff,
            connectivityWait: other.connectivityWait ?? connectivityWait
        )
    }

    /// Decides what follows an attempt, apart from the budget.
    ///
    /// - Parameters:
    ///   - outcome: what came of the attempt.
    ///   - date: the present date.
    ///   - remaining: the time from the outcome to the deadline of the call, `nil` without a deadline.
    ///   - random: the source of chance; called if the policy wants another attempt.
    /// - Returns: whether the call ends in the outcome, or how long after the outcome another attempt follows.
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
