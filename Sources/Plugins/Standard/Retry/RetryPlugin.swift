import Foundation
import HTTPTypes
public import PipelineCore

/// A plugin that retries failed requests if they can be repeated safely.
///
/// ```swift
/// RetryPlugin()
/// RetryPlugin(maximumAttempts: 5, backoff: .exponential(base: .seconds(1)))
/// RetryPlugin(connectivityWait: .on)
/// try await provider.request(.search, options: .init { $0.retry = .never })
/// try await provider.request(.pay, options: .init { $0.idempotencyKey = .generated })
/// ```
///
/// A ``RetryPolicy`` decides which outcomes are retried, a ``RetryPolicy/Backoff`` how long to wait, and a
/// ``RetryBudget`` how many calls may be retried overall. `RequestOptions.retry` overrides everything except the budget
/// for a single request.
///
/// **Effects**
///
/// What is retried:
///
/// - A response with one of the statuses, a lost connection, a truncated body, or a timeout of an exchange, if the
///   method is idempotent or the request has an Idempotency-Key field.
/// - A response with an error status whose body does not arrive, if the status is one of these.
/// - A failure to connect, except a TLS failure, whatever the method, if the attempt sent nothing.
///
/// What is not retried:
///
/// - A timeout of the whole call or of a plugin, such as `timeout.tokenRefresh`.
/// - A request whose body is a stream that can be read only once, if something has been read from it.
///
/// How long a retry waits:
///
/// - It waits for the backoff or for Retry-After, whichever is longer, unless the response was replayed
///   (`context.isReplayed`). A cancelled call stops waiting at once.
/// - If the response asks for a longer wait than the policy allows, or if the wait would not end before
///   `context.deadline`, the call ends at once with that outcome. In an exchange that calls share, the latest of their
///   deadlines counts.
/// - With `connectivityWait`, it waits for a network instead of the backoff if an attempt fails without a response
///   while the machine has no network. A lost body counts, too. The retry follows as soon as there is a network. If
///   none becomes available within the limit, or until 50 ms before `context.deadline`, the call ends with that
///   failure. A request to a loopback address does not wait for a network. The retry is deducted from the budget before
///   the wait.
/// - Calls that shared the exchange of an inner ``DeduplicationPlugin`` share one random draw and start their waits at
///   the end of that exchange. They also share one decision of the budget, which counts one retry for all of them or
///   refuses it to all of them. Calls with equal settings therefore retry together and share the next exchange. Policy,
///   number of attempts and deadline remain separate for each call.
///
/// What an attempt sends and keeps:
///
/// - Each retry starts from the unchanged request; the plugins inside prepare it anew. `RequestOptions.idempotencyKey`
///   sets the header field Idempotency-Key if there is none, once for all attempts.
/// - The body of a failed attempt is discarded during the wait, within `limits.discardedBodyByteCount` and
///   `limits.discardedBodyDuration`, like `PipelineResponse.discardBody(_:within:)`. A resumable download continues
///   with the bytes kept by all earlier attempts. No response of a failed attempt is kept.
/// - `PipelineExchange.refusedRetry` and the description of the error record why an outcome was not retried.
/// - Copies of the plugin share the budget, which is kept per host and port.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `maximumAttempts` | 3 | attempts in all, including the first | 1 and up |
/// | `policy` | ``RetryPolicy``: 408, 429, 500, 502, 503, 504; idempotent methods; Retry-After up to 60 s | | |
/// | `backoff` | ``RetryPolicy/Backoff/exponential(base:factor:cap:jitter:)``: 500 ms, doubled, up to 30 s, full jitter | | |
/// | `budget` | ``RetryBudget``: 20 % of the calls and 10 per second, over 10 s | | |
/// | `connectivityWait` | ``ConnectivityWait/off``; ``ConnectivityWait/on`` is up to 60 s before each retry | | more than zero |
///
/// **Position**
///
/// - Outside plugins that sign or authorize, so that each attempt gets a fresh token. Inside them, every attempt has
///   the token of the first.
/// - Outside a plugin that decodes bodies, so that a policy sees decoded bodies.
/// - Inside a plugin that limits or extends the duration of the whole call, which then covers all attempts.
/// - Outside ``DeduplicationPlugin``, each call decides for itself, and the calls that retry do so together. Inside it,
///   one call retries for all.
/// - If a stack has two, the outer one repeats all attempts of the inner one.
///
/// **Errors**: throws only `invalidRequest.headerValue`, for an idempotency key that cannot be sent. The call ends with
/// the outcome of the last attempt and lists the exchanges of all attempts.
///
/// **Secrets**: an idempotency key is not a secret, and remains after a redirect to another origin.
///
/// Source: RFC 9110 §9.2.2, https://www.rfc-editor.org/rfc/rfc9110.html#section-9.2.2, and §10.2.3,
/// https://www.rfc-editor.org/rfc/rfc9110.html#section-10.2.3
public struct RetryPlugin: Stage.Prepare, Stage.Intercept, RetryBudget.Using {
    private let maximumAttempts: Int
    /// The rules that decide which outcomes are retried.
    public let policy: RetryPolicy
    private let backoff: RetryPolicy.Backoff
    private let connectivityWait: ConnectivityWait
    /// The budget, which copies of the plugin share.
    public let budget: RetryBudget

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - maximumAttempts: the maximum number of attempts, including the first, 1 and up.
    ///   - policy: decides which outcomes are retried.
    ///   - backoff: the wait before each retry.
    ///   - budget: the share of all calls to a host that may be retried.
    ///   - connectivityWait: how long a retry waits for a network if the machine has none.
    public init(
        maximumAttempts: Int = 3,
        policy: RetryPolicy = RetryPolicy(),
        backoff: RetryPolicy.Backoff = .exponential(),
        budget: RetryBudget = RetryBudget(),
        connectivityWait: ConnectivityWait = .off
    ) {
        precondition(maximumAttempts > 0, "maximumAttempts is \(maximumAttempts), not 1 or more")
        self.maximumAttempts = maximumAttempts
        self.policy = policy
        self.backoff = backoff
        self.connectivityWait = connectivityWait
        self.budget = budget
    }

    /// Sets the idempotency key of the call in the request.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        try context.options.idempotencyKey?.set(in: &request, context)
    }

    /// Sends the request until an outcome needs no retry or must not be retried.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        var attempt = 1
        while true {
            let end: PipelineClock.Instant
            do {
                let past = Past(context)
                var result = try await Self.send(request, next)
                guard
                    let beginning = nextAttempt(after: &result, of: request, attempt, past, context),
                    let restored = try await close(&result, of: request, beginning, past, context)
                else { return try result.get() }
                end = restored
            }
            // The response has been released: no resource of an attempt is open while the next one runs.
            if !context.isReplayed { try await Self.sleep(until: end, context) }
            attempt += 1
        }
    }

    /// Ends an attempt that will be retried.
    ///
    /// Not inlined, here and below, because its variables would take up memory in every waiting call.
    ///
    /// - Returns: when the next attempt begins; `nil` if the call ends with the result because the machine has no
    ///   network.
    @inline(never)
    private func close(
        _ result: inout Result<PipelineResponse, PipelineError>,
        of request: PipelineRequest,
        _ beginning: PipelineClock.Instant,
        _ past: Past,
        _ context: PipelineContext
    ) async throws -> PipelineClock.Instant? {
        var end = beginning
        if mayWaitForNetwork(after: result, of: request, context) {
            guard let restored = try await waitForNetwork(after: &result, beginning, past, context) else { return nil }
            end = restored
        }
        var response = result.response
        await response?.discardBody(context, within: context.clock.now.duration(to: end))
        return end
    }

    @inline(never)
    private static func sleep(until end: PipelineClock.Instant, _ context: PipelineContext) async throws {
        guard context.clock.now < end else { return }
        try await context.recordSpan("retry delay", as: .wait) { try await context.clock.sleep(until: end) }
    }

    /// The state of the call when an attempt began.
    private struct Past {
        let exchangeCount: Int
        let shared: Stage.SharedOutcome?

        init(_ context: PipelineContext) {
            exchangeCount = context.exchanges.count
            shared = context.sharedOutcome
        }
    }

    /// Returns when the next attempt begins; `nil` if the call ends with the result.
    @inline(never)
    private func nextAttempt(
        after result: inout Result<PipelineResponse, PipelineError>,
        of request: PipelineRequest,
        _ attempt: Int,
        _ past: Past,
        _ context: PipelineContext
    ) -> PipelineClock.Instant? {
        let own = context.exchanges.dropFirst(past.exchangeCount)
        if attempt == 1, !own.isEmpty { budget.addCall(to: request.host ?? "", at: context.clock.date) }
        let override = context.options.retry
        let policy = override.policy ?? policy
        guard override.maximumAttempts ?? maximumAttempts > 1 else { return nil }
        // A cache that has no response, or only one with an error status, would respond in the same way.
        if case .success(let response) = result, response.source == .cache || !policy.mayRetry(response.statusCode) {
            return nil
        }
        let shared = context.sharedOutcome.flatMap { $0 === past.shared ? nil : $0 }
        let joint = shared?.exchanges(among: result.exchanges) ?? []
        let outcome = RetryPolicy.Outcome(
            request: request,
            result: result,
            attempt: attempt,
            wasSent: own.contains(where: Self.wasSent) || joint.contains(where: Self.wasSent)
        )
        let end = shared?.end ?? context.clock.now
        switch step(after: outcome, override, at: end, isPaid: !own.isEmpty || !joint.isEmpty, shared, context) {
        case .retry(let delay): return end.advanced(by: delay)
        case .giveBack(let refusal):
            if let refusal, !own.isEmpty { context.noteRefusedRetry(refusal, of: &result) }
            return nil
        }
    }

    private static func wasSent(_ exchange: PipelineExchange) -> Bool {
        exchange.failure?.provesNothingSent != true
    }

    /// Returns whether a missing network may have caused the outcome, and whether a wait for a network is set.
    private func mayWaitForNetwork(
        after result: Result<PipelineResponse, PipelineError>,
        of request: PipelineRequest,
        _ context: PipelineContext
    ) -> Bool {
        guard case .failure(let error) = result, error.response == nil, !context.isReplayed else { return false }
        return (context.options.retry.connectivityWait ?? connectivityWait).isOn && !request.isToLoopback
    }

    /// Returns when the next attempt begins; `nil` if the call ends with the result because no network became
    /// available.
    private func waitForNetwork(
        after result: inout Result<PipelineResponse, PipelineError>,
        _ beginning: PipelineClock.Instant,
        _ past: Past,
        _ context: PipelineContext
    ) async throws -> PipelineClock.Instant? {
        let wait = context.options.retry.connectivityWait ?? connectivityWait
        switch try await context.recordSpan("network", as: .wait, { try await wait.run(context) }) {
        case .available: return beginning
        case .restored: return context.clock.now
        case .unavailable:
            if context.exchanges.count > past.exchangeCount { context.noteRefusedRetry(.offline, of: &result) }
            return nil
        }
    }

    private static func send(
        _ request: PipelineRequest,
        _ next: Stage.Next
    ) async throws -> Result<PipelineResponse, PipelineError> {
        do {
            return .success(try await next(request))
        } catch let error as PipelineError {
            return .failure(error)
        }
    }

    /// The step after an attempt.
    private enum Step {
        /// Ends the call with the outcome; the reason is set if the policy wanted a retry.
        case giveBack(PipelineExchange.RetryRefusal?)
        /// Retries after this wait.
        case retry(after: Duration)
    }

    /// Returns the step after an outcome whose attempt ended at the given instant.
    private func step(
        after outcome: RetryPolicy.Outcome,
        _ override: Override,
        at end: PipelineClock.Instant,
        isPaid: Bool,
        _ shared: Stage.SharedOutcome?,
        _ context: PipelineContext
    ) -> Step {
        let policy = override.policy ?? policy
        let request = outcome.request
        switch policy.decision(after: outcome) {
        case .retryUnprocessed: break
        case .retry: guard policy.allowsRepeating(request) else { return .giveBack(.methodNotIdempotent) }
        default: return .giveBack(nil)
        }
        guard request.body.isReplayable || !request.body.isConsumed else { return .giveBack(.bodyNotReplayable) }
        guard outcome.attempt < override.maximumAttempts ?? maximumAttempts else { return .giveBack(.attemptsUsedUp) }
        let date = context.clock.date
        var random = shared?.random(from: context.random) ?? context.random
        var delay = (override.backoff ?? backoff).delay(afterAttempt: outcome.attempt, using: &random)
        if let asked = outcome.response?.retryAfter(now: date) {
            guard asked <= policy.maximumRetryAfter else { return .giveBack(.retryAfterTooLong) }
            delay = max(delay, asked)
        }
        if let deadline = context.latestDeadline {
            let remaining = context.clock.now < deadline ? end.duration(to: deadline) : .zero
            guard delay < remaining else { return .giveBack(.deadline) }
        }
        // Otherwise the attempt would end with an error of the core, and the outcome would be lost.
        guard context.exchanges.count < context.limits.exchangeCount else { return .giveBack(.attemptsUsedUp) }
        let host = request.host ?? ""
        let isAllowed =
            !isPaid
            || shared?.decision(of: budget) { budget.takeRetry(to: host, at: date) }
                ?? budget.takeRetry(to: host, at: date)
        return isAllowed ? .retry(after: delay) : .giveBack(.budget)
    }
}

extension RetryPlugin {
    /// The plugin prepares only calls that set `idempotencyKey`.
    public var idleStages: [Stage.Kind: Set<RequestOptions.PluginOption>] { [.prepare: [.idempotencyKey]] }
}

extension RetryPlugin: CapabilityDeclaring {
    /// The plugin declares `PluginCapability.retries`.
    public var capabilities: Set<PluginCapability> { [.retries] }
}
