import Foundation
public import Pipeline

/// Sends a request again when that may help and can do no harm.
///
/// ```swift
/// RetryPlugin()
/// RetryPlugin(maximumAttempts: 5, backoff: .exponential(base: .seconds(1)))
/// try await provider.request(.search, options: .init { $0.retry = .never })
/// try await provider.request(.pay, options: .init { $0.idempotencyKey = .generated })
/// ```
///
/// What calls for another attempt is said by a ``RetryPolicy``, how long to wait by a ``RetryBackoff``, how many of all calls may
/// be retried by a ``RetryBudget``. All but the budget can be set per request, by `RequestOptions.retry`.
///
/// **Position**: outside of plugins that sign or authorize, so that each attempt gets a fresh token; inside them every attempt
/// has that of the first. Outside of a plugin that decodes bodies, so that a policy sees them decoded. Inside of one that bounds
/// or stretches the whole call, which then counts all attempts as one. Of two in one stack the outer one repeats all attempts
/// of the inner one.
///
/// **Effects**: the request is sent again unchanged, and prepared anew by the plugins inside. Another attempt follows one of the
/// statuses, a lost connection, a body that was cut short, and a timeout of an attempt, when the method is idempotent or the
/// request has an Idempotency-Key field; and any failure to connect but that of TLS, whatever the method, when nothing of the
/// attempt was sent. A request whose body is a stream that can be read once is sent again only while nobody has begun to read it.
/// Before an attempt it waits for the longer of the backoff and what Retry-After asks for, unless the response was replayed
/// (`context.isReplayed`). A response that asks for more than the policy allows is given back at once, and so is any outcome
/// when the wait would not end before `context.deadline`. A call that is cancelled while it waits ends at once. The body of a
/// failed attempt is discarded during the wait, under `limits.discardedBodyByteCount` and `limits.discardedBodyDuration`, as
/// `PipelineResponse.discardBody(_:within:)` does. A resumable download continues from what all attempts before have kept.
/// Responses of failed attempts are not kept. The reason why no attempt followed an outcome is in
/// `PipelineExchange.refusedRetry`, and in the description of the error.
/// `RequestOptions.idempotencyKey` sets the field Idempotency-Key where there is none, once for all attempts. Copies of the plugin
/// share the budget, which is kept per host and port.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `maximumAttempts` | 3 | attempts in all, the first included | 1 and up |
/// | `policy` | ``RetryPolicy/standard``: 408, 429, 500, 502, 503, 504; idempotent methods; Retry-After up to 60 s | | |
/// | `backoff` | ``RetryBackoff/exponential(base:factor:cap:jitter:)``: 500 ms, doubled, up to 30 s, full jitter | | |
/// | `budget` | ``RetryBudget/standard``: 20 % of the calls and 10 per second, over 10 s | | |
///
/// **Errors**: throws none of its own but `invalidRequest.headerValue` for an idempotency key that cannot be sent. The call ends
/// in the outcome of the last attempt, with the exchanges of all of them.
///
/// **Secrets**: an idempotency key is none; a redirect to another origin keeps it.
///
/// Source: RFC 9110 §9.2.2, https://www.rfc-editor.org/rfc/rfc9110.html#section-9.2.2,
/// and §10.2.3, https://www.rfc-editor.org/rfc/rfc9110.html#section-10.2.3
public struct RetryPlugin: Stage.Prepare, Stage.Intercept {
    private let rules: RetryRules
    private let ledger: SharedRetryLedger

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - maximumAttempts: how many attempts in all, the first included, 1 and up.
    ///   - policy: which outcomes call for another.
    ///   - backoff: how long to wait between them.
    ///   - budget: how many of all calls to a host may be retried.
    public init(
        maximumAttempts: Int = 3,
        policy: RetryPolicy = .standard,
        backoff: RetryBackoff = .exponential(),
        budget: RetryBudget = .standard
    ) {
        precondition(maximumAttempts > 0, "maximumAttempts is \(maximumAttempts), not 1 or more")
        rules = RetryRules(maximumAttempts: maximumAttempts, policy: policy, backoff: backoff)
        ledger = SharedRetryLedger(budget)
    }

    /// Sets the idempotency key.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        try context.options.idempotencyKey?.set(in: &request, using: context.random)
    }

    /// Sends the request until an outcome is given back.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Next
    ) async throws -> PipelineResponse {
        guard begin(request, context) else { return try await next(request) }
        var attempt = 1
        while true {
            let end: PipelineClock.Instant
            do {
                let past = Past(context)
                var result = try await Self.send(request, next)
                switch step(after: &result, of: request, attempt, past, context) {
                case .giveBack:
                    return try result.get()
                case .retry(let delay):
                    end = context.clock.now.advanced(by: delay)
                    var response = result.response
                    await response?.discardBody(context, within: delay)
                }
            }
            // The response is released by now: nothing of an attempt is open while the next one runs.
            if !context.isReplayed, context.clock.now < end { try await context.clock.sleep(until: end) }
            attempt += 1
        }
    }

    /// Notes the call; `false` for one that is never sent again.
    @inline(never)
    private func begin(_ request: PipelineRequest, _ context: PipelineContext) -> Bool {
        ledger.addCall(to: request.host ?? "", at: context.clock.date)
        return rules.overridden(by: context.options.retry).maximumAttempts > 1
    }

    /// What had come of the call when an attempt began.
    private struct Past {
        let exchangeCount: Int
        let joinCount: Int

        init(_ context: PipelineContext) {
            exchangeCount = context.exchanges.count
            joinCount = context.joinCount
        }
    }

    /// What follows an attempt; not inlined, because what it works with would take room in every call that waits.
    @inline(never)
    private func step(
        after result: inout Result<PipelineResponse, PipelineError>,
        of request: PipelineRequest,
        _ attempt: Int,
        _ past: Past,
        _ context: PipelineContext
    ) -> RetryRules.Step {
        let ended = context.exchanges.dropFirst(past.exchangeCount)
        // The exchanges of an answer that was joined are those of the call that leads.
        let seen = context.joinCount == past.joinCount ? ended : ended + result.exchanges
        let outcome = RetryPolicy.Outcome(
            request: request,
            result: result,
            attempt: attempt,
            wasSent: seen.contains { $0.failure?.provesNothingSent != true }
        )
        let step = step(after: outcome, host: ended.isEmpty ? nil : request.host ?? "", context)
        if case .giveBack(let refusal?) = step, !ended.isEmpty { context.noteRefusedRetry(refusal, of: &result) }
        return step
    }

    private static func send(
        _ request: PipelineRequest,
        _ next: Next
    ) async throws -> Result<PipelineResponse, PipelineError> {
        do {
            return .success(try await next(request))
        } catch let error as PipelineError {
            return .failure(error)
        }
    }

    private func step(
        after outcome: RetryPolicy.Outcome,
        host: String?,
        _ context: PipelineContext
    ) -> RetryRules.Step {
        let rules = rules.overridden(by: context.options.retry)
        var random = context.random
        let remaining = context.deadline.map { context.clock.now.duration(to: $0) }
        let step = rules.step(after: outcome, at: context.clock.date, remaining: remaining, using: &random)
        guard case .retry = step else { return step }
        // The attempt would end in an error of the core, and the outcome would be lost.
        guard context.exchanges.count < context.limits.exchangeCount else { return .giveBack(.attemptsUsedUp) }
        guard let host else { return step }
        return ledger.takeRetry(to: host, at: context.clock.date) ? step : .giveBack(.budget)
    }
}

extension RetryPlugin: OrderChecking {
    /// Finds another one outside, and credentials that are set once for all attempts.
    public func findings(in surroundings: PluginSurroundings) -> [PipelineDescription.Finding] {
        var findings: [PipelineDescription.Finding] = []
        if surroundings.outside.contains(where: { $0 is RetryPlugin }) {
            findings.append(
                .init(
                    "RetryPlugin stands twice: the outer one repeats all attempts of the inner one, so that their numbers "
                        + "multiply; leave one, and set RequestOptions.retry where a request needs more"
                )
            )
        }
        for plugin in surroundings.outside where plugin is any AuthenticatingPlugin {
            findings.append(
                .init(
                    "RetryPlugin stands inside \(plugin.name): every attempt is sent with the credentials of the first, also "
                        + "when they have expired; put RetryPlugin outside of it"
                )
            )
        }
        return findings
    }
}

extension Result<PipelineResponse, PipelineError> {
    /// The response, also that of a failure which has one.
    fileprivate var response: PipelineResponse? {
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
