import HTTPTypes
public import PipelineCore
public import PipelinePlugins
import Synchronization

/// A plugin that sends a further copy of a request if the response takes longer than usual, and uses the first usable
/// response.
///
/// ```swift
/// let retry = RetryPlugin()
/// let plugins: [any PluginType] = [retry, HedgingPlugin(budget: retry.budget)]
/// HedgingPlugin(after: .fixed(.milliseconds(80)), maximumHedgeCount: 2)
/// ```
///
/// A single slow server, a lost packet or a pause of the garbage collector delays a few responses for a long time. A
/// second request is rarely delayed, too.
///
/// **Effects**
///
/// Which requests are hedged:
///
/// - GET, HEAD, OPTIONS and QUERY, if the `RetryPolicy` allows repeating them and their body can be replayed. With
///   the option `hedging`, also other requests that the policy allows repeating: the second copy of a PUT or of a
///   request with an Idempotency-Key may get another response than the first, such as 404 or 409.
/// - Never a request with a precondition, such as If-Match, because the first copy may change the resource.
/// - Never a call that is streamed, downloads or reports progress, and none whose option `hedging` is `.never`. Nor a
///   call whose option `retry` is `.never` or allows a single attempt, unless its option `hedging` is set.
/// - No copy is sent before the first has reached the wire, for example while it waits for a permit or at a closed gate
///   of ``RateLimitPlugin``. If the delay has passed by then, it begins again. A call that joins the exchange of
///   another call does not wait for that.
/// - No copy is sent if the time until `context.deadline` does not exceed the delay, or if the call has reached
///   `limits.exchangeCount`.
/// - Each copy is deducted from the `RetryBudget`, and is not sent if the budget is used up.
///
/// What a call gets:
///
/// - The first usable response: one that the `RetryPolicy` would not retry, and if another copy than the first gets
///   it, none with a status from 400 to 499. The other copies are cancelled, and the call ends when they have ended.
/// - A result that is not usable ends the call if no other copy is in flight. Otherwise, the call waits for the other
///   copies. If none brings a usable response, a response is better than a failure, and then the copy that was sent
///   first counts.
/// - If the call is cancelled, all copies are.
///
/// What a copy is:
///
/// - Each copy runs all plugins inside, as an attempt of its own with its own credentials and permits, and is listed in
///   the exchanges of the call.
/// - The response of a cancelled copy reaches no exchange plugin, and so sets no cookie and is not stored.
/// - `context.annotations` lists `hedged` for each copy that was sent, and `won by copy` if a copy other than the first
///   brought the result.
///
/// What is kept: up to 1,000 latencies for each partition, of the first copies that brought a usable response over the
/// network. If another copy won, the time until then counts as the latency of the first.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `after` | ``HedgingDelay/percentile(_:atFirst:)``: 0.985, which sends 1.5 % of the requests twice; 1 s at first | | |
/// | `maximumHedgeCount` | 1 | copies besides the first, each after a further delay | 1...10 |
/// | `partition` | ``TrafficPartition/authority`` | calls with similar latencies | |
/// | `policy` | `RetryPolicy` with its defaults | | |
/// | `budget` | one with defaults that only this plugin uses | | |
///
/// **Position**
///
/// - Inside `RetryPlugin`. Outside it, each copy would be retried.
/// - Outside plugins that set a credential, so that each copy has its own.
/// - Outside plugins that make requests wait, such as ``ConcurrencyLimitPlugin``, where each copy needs a permit of its
///   own. The wait for a permit counts as latency.
/// - Inside `DeduplicationPlugin`, the calls that share a response also share the copies. Outside it, each of these
///   calls pays for its copies, which are shared as well.
/// - Inside a plugin that limits the duration of the call.
///
/// **Errors**: throws none of its own.
///
/// **Secrets**: none.
///
/// Source: Dean and Barroso, The Tail at Scale, https://research.google/pubs/the-tail-at-scale/
public struct HedgingPlugin: Stage.Intercept, Stage.WillSend, RetryBudget.Using {
    private let delay: HedgingDelay
    private let maximumHedgeCount: Int
    private let partition: TrafficPartition
    private let policy: RetryPolicy
    /// The budget that pays for the copies.
    public let budget: RetryBudget
    /// Whether no other plugin adds calls to the budget.
    private let ownsBudget: Bool
    private let latencies = PartitionMap<ObservedLatencies>()

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - delay: how long to wait for a response before each further copy.
    ///   - maximumHedgeCount: the maximum number of copies besides the first, `1...10`.
    ///   - partition: which calls have similar latencies.
    ///   - policy: decides which responses are usable, as for a plugin that retries.
    ///   - budget: pays for the copies; pass that of the plugin that retries. `nil` for one of its own.
    public init(
        after delay: HedgingDelay = .percentile(0.985),
        maximumHedgeCount: Int = 1,
        partition: TrafficPartition = .authority,
        policy: RetryPolicy = RetryPolicy(),
        budget: RetryBudget? = nil
    ) {
        precondition((1...10).contains(maximumHedgeCount), "maximumHedgeCount is \(maximumHedgeCount), not in 1...10")
        self.delay = delay
        self.maximumHedgeCount = maximumHedgeCount
        self.partition = partition
        self.policy = policy
        self.budget = budget ?? RetryBudget()
        ownsBudget = budget == nil
    }

    /// Sends the request, and a further copy whenever the delay has passed without a usable response.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        let delay = context.options.hedging ?? delay
        guard delay != .never, !Self.isExcluded(request, context), request.body.isReplayable,
            policy(context).allowsRepeating(request)
        else { return try await next(request) }
        context.sentSignal = Stage.SentSignal()
        let key = partition.key(of: request, context)
        let observed = latencies.object(for: key, on: context.clock) { ObservedLatencies() }
        let start = context.clock.now
        let race = HedgingRace(maximumCopyCount: maximumHedgeCount + 1)
        guard let (copy, ended) = await run(race, every: observed.delay(delay), request, context, next) else {
            throw CancellationError()
        }
        if ending(of: ended.result, copy, request, context) == .usable {
            if copy > 0 { context.annotate("won by copy", by: self) }
            if copy > 0 || ended.isFromNetwork { observed.add(start.duration(to: ended.end)) }
        }
        // A copy that ended later has changed this value of the call.
        context.share(ended.shared)
        if ownsBudget { budget.addCall(to: request.host ?? "", at: context.clock.date) }
        return try ended.result.get()
    }

    /// Notes that a copy has reached the wire.
    public func willSend(_ request: PipelineRequest, context: PipelineContext) {
        context.sentSignal?.note()
    }

    /// Sends the copies until one brings the result of the call, and waits for the others to end.
    ///
    /// - Returns: the copy that brought the result, and how it ended.
    private func run(
        _ begun: HedgingRace,
        every wait: Duration,
        _ request: PipelineRequest,
        _ context: PipelineContext,
        _ next: Stage.Next
    ) async -> (copy: Int, EndedCopy)? {
        await withTaskGroup(of: (copy: Int, EndedCopy)?.self) { group in
            var race = begun
            var endings: [Int: EndedCopy] = [:]
            func send() {
                let copy = race.send()
                let hasEnded = SharedFlag()
                if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                    // A copy that does not wait, such as a cache hit, ends here and needs no timer: 3 µs instead of 14.
                    group.addImmediateTask {
                        let ended = await EndedCopy(of: request, context, next)
                        hasEnded.set()
                        return (copy, ended)
                    }
                } else {
                    group.addTask { (copy, await EndedCopy(of: request, context, next)) }
                }
                if race.maySend, !hasEnded.isSet { sleep(afterSent: false) }
            }
            func sleep(afterSent: Bool) {
                guard Self.hasTime(for: wait, context) else { return }
                group.addTask {
                    if afterSent { await context.sentSignal?.wait() }
                    try? await context.clock.sleep(for: wait)
                    return nil
                }
            }
            send()
            defer { group.cancelAll() }
            while let event = await group.next() {
                guard let (copy, ended) = event else {
                    guard context.sentSignal?.isSent ?? true else {
                        sleep(afterSent: true)
                        continue
                    }
                    guard mayHedge(after: race.copyCount, request, context) else { continue }
                    context.annotate("hedged", by: self, duration: wait)
                    send()
                    continue
                }
                endings[copy] = ended
                if let best = race.end(copy, ending(of: ended.result, copy, request, context)) {
                    return endings[best].map { (best, $0) }
                }
            }
            return nil
        }
    }
}

// MARK: Decisions

extension HedgingPlugin {
    private func policy(_ context: PipelineContext) -> RetryPolicy {
        context.options.retry.policy ?? policy
    }

    private func ending(
        of result: Result<PipelineResponse, any Error>,
        _ copy: Int,
        _ request: PipelineRequest,
        _ context: PipelineContext
    ) -> HedgingRace.Ending {
        guard case .success(let response) = result else { return .failure }
        // The server may refuse a copy because of the first, which it still works on.
        if copy > 0, (400...499).contains(response.statusCode) { return .unusable }
        let policy = policy(context)
        if response.source == .cache || !policy.mayRetry(response.statusCode) { return .usable }
        let outcome = RetryPolicy.Outcome(request: request, result: .success(response), attempt: 1, wasSent: true)
        return policy.decision(after: outcome) == .giveBack ? .usable : .unusable
    }

    /// Returns whether the call has one copy, whatever the policy says.
    private static func isExcluded(_ request: PipelineRequest, _ context: PipelineContext) -> Bool {
        let options = context.options
        if context.wantsStream || preconditions.contains(where: request.headers.contains) { return true }
        guard options.hedging == nil else { return false }
        return options.retry.maximumAttempts == 1 || !DeduplicationPlugin.standardMethods.contains(request.method)
    }

    /// The fields that make a request conditional.
    ///
    /// Source: RFC 9110 §13.1, https://www.rfc-editor.org/rfc/rfc9110.html#section-13.1
    private static let preconditions: [HTTPField.Name] = [
        .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange,
    ]

    private static func hasTime(for wait: Duration, _ context: PipelineContext) -> Bool {
        context.latestDeadline.map { context.clock.now.duration(to: $0) > wait } ?? true
    }

    /// Returns whether another copy may be sent after a delay; deducts it from the budget if so.
    private func mayHedge(after copyCount: Int, _ request: PipelineRequest, _ context: PipelineContext) -> Bool {
        !Task.isCancelled && Self.hasTime(for: .zero, context)
            && context.exchanges.count + copyCount < context.limits.exchangeCount
            && budget.takeRetry(to: request.host ?? "", at: context.clock.date)
    }
}

/// How a copy of a request has ended.
private struct EndedCopy: Sendable {
    let result: Result<PipelineResponse, any Error>
    let end: PipelineClock.Instant
    /// The outcome that the copy shared with other calls.
    let shared: Stage.SharedOutcome?
    let isFromNetwork: Bool

    /// Sends a copy and waits for its end.
    init(of request: PipelineRequest, _ context: PipelineContext, _ next: Stage.Next) async {
        do {
            let response = try await next(request)
            isFromNetwork = response.source == .network && !context.isJoined
            result = .success(response)
        } catch {
            isFromNetwork = false
            result = .failure(error)
        }
        end = context.clock.now
        shared = context.sharedOutcome
    }
}

/// The latencies of a partition.
private final class ObservedLatencies: PartitionObject {
    private let window = Mutex(LatencyWindow())

    func isIdle(at now: PipelineClock.Instant) -> Bool { true }

    func add(_ latency: Duration) {
        window.withLock { $0.add(latency) }
    }

    func delay(_ setting: HedgingDelay) -> Duration {
        switch setting.kind {
        case .never: .zero
        case .fixed(let delay): delay
        case .percentile(let share, let initial):
            window.withLock { $0.percentile(share) }.map { $0 + .milliseconds(1) } ?? initial
        }
    }
}

extension HedgingPlugin {
    /// With the delay ``HedgingDelay/never``, the plugin intercepts only calls that set `hedging`.
    public var idleStages: [Stage.Kind: Set<RequestOptions.PluginOption>] {
        delay == .never ? [.intercept: [.hedging]] : [:]
    }
}

// MARK: Position

extension HedgingPlugin: CapabilityDeclaring {
    private static let hedges = PluginCapability("sends copies of requests")

    /// The plugin declares a capability of its own.
    public var capabilities: Set<PluginCapability> { [Self.hedges] }

    /// Finds a plugin outside retries, inside a plugin that sets a credential, and inside another one of its kind.
    public var orderRules: [OrderRule] {
        [
            OrderRule(
                "hedge-outside-retry",
                [Self.hedges],
                .outside,
                [.retries],
                consequence: "each copy of a request repeats all attempts"
            ),
            OrderRule(
                "hedge-inside-credential",
                [Self.hedges],
                .inside,
                [.setsCredential, .signs],
                consequence: "all copies of a request are sent with the credential or signature of the first"
            ),
            OrderRule(
                "hedge-inside-hedge",
                [Self.hedges],
                .inside,
                [Self.hedges],
                consequence: "each copy of the outer plugin is copied by the inner one",
                remedy: "keep one of them"
            ),
        ]
    }

    /// Finds a plugin that retries on another budget.
    public func conflict(with other: any PluginType) -> SettingConflict? {
        guard let other = other as? any RetryBudget.Using, other.budget !== budget else { return nil }
        return SettingConflict(
            "hedge-on-another-budget",
            problem: "retries and copies have separate budgets",
            consequence: "a server in trouble gets the additional requests of both",
            remedy: "pass the same budget to both, as in HedgingPlugin(budget: retry.budget)"
        )
    }
}
