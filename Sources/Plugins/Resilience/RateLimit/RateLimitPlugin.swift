public import PipelineCore

/// A plugin that keeps requests within a rate limit, and holds them back when the server asks for it.
///
/// ```swift
/// RateLimitPlugin(RateLimit(100, per: .seconds(1)))
/// RateLimitPlugin()                                              // only obeys Retry-After and RateLimit
/// try await provider.request(.search, options: .init { $0.cost = 5 })
/// ```
///
/// **Effects**
///
/// - Each request of a partition takes as many permits of the limit as `RequestOptions.cost` says. Without permits, it
///   waits in line by `RequestOptions.priority`, or is refused. ``RateLimit`` describes what the server then counts.
/// - A request counts from the moment it is sent. It does not count if it is not sent, or failed without a connection.
/// - A request that then waits for a permit of ``ConcurrencyLimitPlugin`` returns to the gate if that has been closed
///   in the meantime.
/// - A 403, 429 or 503 with a valid Retry-After closes the gate of the partition: until then, no request is sent. The
///   header field RateLimit does the same if it says that a quota is used up; Retry-After takes precedence. A gate is
///   never shortened. Requests that were sent before are not affected. `signals` and `wait` change what is read.
/// - By default, a gate stays closed no longer than calls may take: at most for the time that the call that got the
///   response has in all. `maximumRetryAfter` replaces that.
/// - After a 429 that does not say for how long, a growing share of requests is refused while the server refuses more
///   than half of those that are sent (client-side throttling).
/// - When the gate opens, the first of the waiting calls goes at once. The others, and those that come meanwhile,
///   follow within `spread` at equal distances, or later if the limit requires it.
/// - The response that closed the gate is returned unchanged. An outer `RetryPlugin` waits for the same moment.
/// - Ignores what cached responses and replayed recordings (`context.isReplayed`) say.
/// - With a `store`, each request also reserves its moment there, with one round trip, so that several processes share
///   the limit. The requests are spaced by (`per` + `jitter`) / (`count` - `burst` + 1), whose inverse is the largest
///   rate that is safe without knowledge of the other processes' responses: a `burst` of 50 with a `count` of 100
///   halves the rate. The reservation of a call that is cancelled is lost. Gates are not shared.
/// - If a round trip to the store takes longer than `jitter` (at least 10 ms), the request is reserved again, at most
///   twice. If the store fails or takes more than 250 ms, `onStoreFailure` applies, and the store is not used for 1 s.
///   The first failure is logged as a warning, each goes to `reportStoreFailure`, and the plugin is degraded until the
///   store responds.
/// - Providers that share the plugin must have comparable clocks, see `PipelineClock.Instant`.
/// - Changes neither request nor response, and does not read bodies. Keeps up to 1,000 partitions, with up to 10,000
///   moments each.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `limit` | `nil`: only the gate | | |
/// | `maximumWait` | `nil`: until `context.deadline` | | 0, which refuses at once, and up |
/// | `maximumWaitingCount` | 10,000 for each partition | calls | 0 and up |
/// | `partition` | ``TrafficPartition/authority`` | | |
/// | `spread` | 1 s | | 0 and up |
/// | `maximumRetryAfter` | `nil`: 60 s, and no longer than the call may take; it replaces a longer wait | | 0, which ignores all, ... 366 days |
/// | `signals` | ``Signals/standard`` | | |
/// | `wait` | `nil`: what the response says | | |
/// | `store` | `nil`: within the process | | |
/// | `onStoreFailure` | ``StoreFailurePolicy/local`` | | |
///
/// **Position**: inside a cache, so that a hit takes no permits. Outside plugins that sign or limit concurrency, so
/// that signatures are fresh and no permit is held during the wait. If a stack has two, both limits apply.
///
/// **Errors**: `limit.rate` for a request that must not wait, would wait too long or finds the line full. Its
/// `retryAfter` is the time until the next permit, if known. Its `refusalCause` is the response that closed the gate or
/// began the throttling, or otherwise the failure of the attempt before. Failures of the request pass through
/// unchanged. A cancelled call leaves the line at once.
///
/// **Annotations**: `waited` with the duration, `refused`, `store unavailable`, and `gated` with the duration on the
/// exchange whose response closed the gate.
///
/// **Secrets**: keys of partitions that are not authorities are never shown. A store gets a hash of them.
///
/// Source: RFC 9110 §10.2.3, https://www.rfc-editor.org/rfc/rfc9110.html#section-10.2.3, and
/// https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-11
public struct RateLimitPlugin: Stage.Exchange, Stage.WillSend {
    let limit: RateLimit?
    let maximumWait: Duration?
    let partition: TrafficPartition
    let quota: SharedQuota?
    let partitions = PartitionMap<PermitQueue<RateMeter>>()
    let maximumWaitingCount: Int
    let onStoreFailure: StoreFailurePolicy
    /// The limits of this process while the store is unavailable.
    let substitutes = PartitionMap<PermitQueue<RateMeter>>()
    private let spread: Duration
    private let maximumRetryAfter: Duration?
    private let signals: Signals
    private let askedWait: (@Sendable (PipelineResponse) -> Duration?)?
    /// Whether a server has refused a request without saying for how long.
    private let hasThrottle = SharedFlag()

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - limit: the limit of each partition; `nil` for a plugin that only obeys the server.
    ///   - maximumWait: the longest time that a request may wait; `nil` if only `context.deadline` limits it.
    ///   - maximumWaitingCount: the maximum number of waiting calls in each partition.
    ///   - partition: which requests share a limit.
    ///   - spread: the time over which the waiting calls are spread when the gate opens.
    ///   - maximumRetryAfter: the longest time for which a response may close the gate. After a longer Retry-After, the
    ///     gate opens early, and the next response may close it again.
    ///   - signals: what closes the gate.
    ///   - wait: returns for how long a response closes the gate; zero for not at all, `nil` for what `signals` say. It
    ///     must be quick.
    ///   - store: where several processes share the limit; ignored without a limit.
    ///   - onStoreFailure: what happens to requests while the store is unavailable.
    ///   - reportStoreFailure: called with each failure of the store.
    public init(
        _ limit: RateLimit? = nil,
        maximumWait: Duration? = nil,
        maximumWaitingCount: Int = 10_000,
        partition: TrafficPartition = .authority,
        spread: Duration = .seconds(1),
        maximumRetryAfter: Duration? = nil,
        signals: Signals = .standard,
        wait: (@Sendable (_ response: PipelineResponse) -> Duration?)? = nil,
        store: (any RateLimitStore)? = nil,
        onStoreFailure: StoreFailurePolicy = .local,
        reportStoreFailure: (@Sendable (_ error: any Error) -> Void)? = nil
    ) {
        if let maximumWait { precondition(maximumWait >= .zero, "maximumWait is \(maximumWait), not 0 or more") }
        precondition(maximumWaitingCount >= 0, "maximumWaitingCount is \(maximumWaitingCount), not 0 or more")
        precondition(spread >= .zero, "spread is \(spread), not 0 or more")
        if let maximumRetryAfter {
            precondition(
                (.zero ... .seconds(366 * 86_400)).contains(maximumRetryAfter),
                "maximumRetryAfter is \(maximumRetryAfter), not in 0 ... 366 days"
            )
        }
        self.limit = limit
        self.maximumWait = maximumWait
        self.maximumWaitingCount = maximumWaitingCount
        self.partition = partition
        self.spread = spread
        self.maximumRetryAfter = maximumRetryAfter
        self.signals = signals
        self.onStoreFailure = onStoreFailure
        askedWait = wait
        quota = if let limit, let store { SharedQuota(store, limit, onFailure: reportStoreFailure) } else { nil }
    }

    /// Sends the request once it has its permits and the gate is open.
    public func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        let isShared = quota != nil && maximumWait != .zero
        let permits = partitions.object(for: partition.key(of: request, context), on: context.clock) {
            PermitQueue(
                RateMeter(limit, spread: spread, isShared: isShared, at: context.clock.now),
                maximumWaitingCount: maximumWaitingCount
            )
        }
        while true {
            if quota != nil || !permits.enterAtOnce(context.options.cost, on: context.clock) {
                try await wait(for: permits, request, context)
            }
            if hasThrottle.isSet { try await throttle(permits, context) }
            let departure = RateDeparture(at: permits, cost: context.options.cost, context)
            context.update(RateDepartures.self) { $0.append(departure) }
            defer { context.update(RateDepartures.self) { $0.removeAll { $0 === departure } } }
            do {
                let response = try await send(request)
                departure.end(hasArrived: true, on: context.clock)
                close(permits, after: response, context)
                return response
            } catch {
                let failure = error as? PipelineError
                let provesNothingSent = failure?.code.provesNothingSent == true
                departure.end(hasArrived: false, provesNothingSent: provesNothingSent, on: context.clock)
                guard failure?.underlyingError is RateGateClosed else { throw error }
            }
        }
    }

    /// Notes that a request is sent, because the server counts it from then on.
    public func willSend(_ request: PipelineRequest, context: PipelineContext) {
        for departure in context[RateDepartures.self] where departure.belongs(to: context) {
            departure.depart(on: context.clock)
        }
    }

    /// Closes the gate if the response asks for it.
    private func close(
        _ permits: PermitQueue<RateMeter>,
        after response: PipelineResponse,
        _ context: PipelineContext
    ) {
        guard response.source != .cache, !context.isReplayed else { return }
        let isRefusal = response.statusCode == 429 || response.statusCode == 503
        let asked = askedWait?(response) ?? wait(after: response, context)
        if hasThrottle.isSet || response.statusCode == 429 {
            note(response, mayThrottle: asked == nil, at: permits, context)
        }
        guard let asked, asked > .zero else { return }
        let refusal = isRefusal || response.statusCode == 403 ? response.statusCode : nil
        let (now, duration) = (context.clock.now, min(asked, maximumRetryAfter ?? longestClosure(context)))
        let isExtended = permits.change(on: context.clock) {
            $0.close(until: now.advanced(by: duration), refusal: refusal, at: now)
        }
        if isExtended { context.annotate("gated", by: self, duration: duration) }
    }

    /// Returns for how long the gate may be closed: any longer, it would only refuse calls like this one.
    private func longestClosure(_ context: PipelineContext) -> Duration {
        let total = context.latestDeadline.map { context.start.duration(to: $0) }
        return min(total ?? .seconds(60), .seconds(60))
    }

    /// Returns for how long a response asks to send no requests.
    private func wait(after response: PipelineResponse, _ context: PipelineContext) -> Duration? {
        let date = context.clock.date
        let status = response.statusCode
        let isRefusal = status == 429 || status == 503 || status == 403
        let asked = isRefusal && signals.contains(.retryAfter) ? response.retryAfter(now: date) : nil
        return asked ?? QuotaFields.wait(in: response.headers, signals, now: date)
    }

    /// Counts a response of a server that has refused requests without saying for how long.
    @inline(never)
    private func note(
        _ response: PipelineResponse,
        mayThrottle: Bool,
        at permits: PermitQueue<RateMeter>,
        _ context: PipelineContext
    ) {
        let now = context.clock.now
        guard response.statusCode == 429 else { return permits.change(on: context.clock) { $0.accept(at: now) } }
        guard mayThrottle else { return }
        permits.change(on: context.clock) { $0.beginThrottling(at: now) }
        hasThrottle.set()
    }

    /// Refuses a share of the requests to a server that refuses many.
    @inline(never)
    private func throttle(_ permits: PermitQueue<RateMeter>, _ context: PipelineContext) async throws {
        let now = context.clock.now
        let share = permits.change(on: context.clock) { $0.refusalShare(at: now) }
        guard share > 0 else { return }
        var random = context.random
        guard Double.random(in: 0..<1, using: &random) < share else { return }
        Self.cancel(permits, context)
        await Task.yield()
        context.annotate("refused", by: self)
        throw PipelineError.refused(
            .limit(.rate),
            "the server refuses many requests with 429 and does not say for how long, so this one was not sent",
            cause: PipelineError.RefusalCause(code: .unacceptableStatus, statusCode: 429)
        )
    }
}
