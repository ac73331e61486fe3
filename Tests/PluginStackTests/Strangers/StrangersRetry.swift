import Pipeline

/// A retrying plugin of another package, with waits of its own.
///
/// It imports PipelinePlugins for the policy and for the budget, which it shares with plugins that send copies.
struct StrangersRetry: Stage.Intercept, RetryBudget.Using, CapabilityDeclaring {
    let budget: RetryBudget
    private let policy = RetryPolicy()
    private let maximumAttempts = 3

    var capabilities: Set<PluginCapability> { [.retries] }

    init(budget: RetryBudget) {
        self.budget = budget
    }

    func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        var attempt = 1
        while true {
            let past = Past(exchangeCount: context.exchanges.count, shared: context.sharedOutcome)
            var result: Result<PipelineResponse, PipelineError>
            do {
                result = .success(try await next(request))
            } catch let error as PipelineError {
                result = .failure(error)
            }
            guard let moment = retryMoment(after: &result, of: request, attempt, past, context) else {
                return try result.get()
            }
            var response = result.received
            await response?.discardBody(context, within: context.clock.now.duration(to: moment))
            if !context.isReplayed { try await context.clock.sleep(until: moment) }
            attempt += 1
        }
    }

    /// What was known when an attempt began.
    private struct Past {
        let exchangeCount: Int
        let shared: Stage.SharedOutcome?
    }

    /// Returns when the request is retried; `nil` if the call ends with the result.
    private func retryMoment(
        after result: inout Result<PipelineResponse, PipelineError>,
        of request: PipelineRequest,
        _ attempt: Int,
        _ past: Past,
        _ context: PipelineContext
    ) -> PipelineClock.Instant? {
        let (host, date) = (request.host ?? "", context.clock.date)
        let own = context.exchanges.dropFirst(past.exchangeCount)
        if attempt == 1, !own.isEmpty { budget.addCall(to: host, at: date) }
        if case .success(let response) = result, response.source == .cache { return nil }
        // An outcome from before this attempt says nothing about it.
        let shared = context.sharedOutcome.flatMap { $0 === past.shared ? nil : $0 }
        let made = own + (shared?.exchanges(among: result.exchanges) ?? [])
        let wasSent = made.contains { $0.failure?.provesNothingSent != true }
        let outcome = RetryPolicy.Outcome(request: request, result: result, attempt: attempt, wasSent: wasSent)
        let decision = policy.decision(after: outcome)
        if decision == .giveBack { return nil }
        var random = shared?.random(from: context.random) ?? context.random
        let asked = outcome.response?.retryAfter(now: date) ?? .zero
        let wait = max(asked, .milliseconds(200 << attempt) * Double.random(in: 0.5...1, using: &random))
        let moment = (shared?.end ?? context.clock.now).advanced(by: wait)
        let refusal: PipelineExchange.RetryRefusal? =
            if decision != .retryUnprocessed, !policy.allowsRepeating(request) {
                .methodNotIdempotent
            } else if !request.body.isReplayable, request.body.isConsumed {
                .bodyNotReplayable
            } else if attempt >= maximumAttempts || context.exchanges.count >= context.limits.exchangeCount {
                .attemptsUsedUp
            } else if asked > policy.maximumRetryAfter {
                .retryAfterTooLong
            } else if let deadline = context.latestDeadline, moment >= deadline {
                .deadline
            } else if !made.isEmpty, !mayRetry(to: host, shared, context) {
                .budget
            } else {
                nil
            }
        guard let refusal else { return moment }
        if !own.isEmpty { context.noteRefusedRetry(refusal, of: &result) }
        return nil
    }

    /// Asks the budget once for all calls that shared the outcome.
    private func mayRetry(to host: String, _ shared: Stage.SharedOutcome?, _ context: PipelineContext) -> Bool {
        let date = context.clock.date
        guard let shared else { return budget.takeRetry(to: host, at: date) }
        return shared.decision(of: budget) { budget.takeRetry(to: host, at: date) }
    }
}

extension Result<PipelineResponse, PipelineError> {
    fileprivate var received: PipelineResponse? {
        switch self {
        case .success(let response): response
        case .failure(let error): error.response
        }
    }

    fileprivate var exchanges: [PipelineExchange] {
        switch self {
        case .success(let response): response.exchanges
        case .failure(let error): error.exchanges
        }
    }
}
