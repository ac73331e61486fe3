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

    /// These rules with those of one request over them.
    func overridden(by other: RetryPlugin.Override) -> RetryRules {
        RetryRules(
            maximumAttempts: other.maximumAttempts ?? maximumAttempts,
            policy: other.policy ?? policy,
            backoff: other.backoff ?? backoff
        )
    }

    /// What follows an attempt, the budget aside.
    ///
    /// - Parameters:
    ///   - outcome: what came of the attempt.
    ///   - date: the present date.
    ///   - remaining: how long the call may still take, `nil` when nobody has said.
    ///   - random: the source of chance.
    /// - Returns: the outcome is given back, or another attempt follows.
    func step(
        after outcome: RetryPolicy.Outcome,
        at date: Date,
        remaining: Duration?,
        using random: inout PipelineRandom
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
        var delay = backoff.delay(afterAttempt: outcome.attempt, using: &random)
        if let headers = outcome.response?.headers, let asked = RetryAfter(in: headers, now: date)?.delay {
            guard asked <= policy.maximumRetryAfter else { return .giveBack(.retryAfterTooLong) }
            delay = max(delay, asked)
        }
        if let remaining, delay >= remaining { return .giveBack(.deadline) }
        return .retry(after: delay)
    }
}
