public import PipelineCore

/// A plugin that stops sending requests to a server that fails, until a probe succeeds.
///
/// ```swift
/// let breaker = CircuitBreakerPlugin()
/// let plugins: PluginStack = [RetryPlugin(), TimeoutPlugin(attempt: .seconds(10)), breaker]
/// let provider = Provider<Shop>(transport: transport, plugins: plugins)
/// breaker.isolate("https://a.test")
/// for await change in breaker.stateChanges { print(change.partition ?? "", change.newState) }
/// ```
///
/// **Effects**
///
/// - A closed circuit lets all requests pass and counts their outcomes. It opens when the window holds at least
///   `minimumCallCount` outcomes and at least `failureRatio` of them are failures.
/// - An open circuit refuses requests, also those that wait in a line of ``RateLimitPlugin`` or
///   ``ConcurrencyLimitPlugin`` inside. After `breakDuration`, the next `probeCount` requests pass as probes, and the
///   circuit is half-open: it refuses further requests until that many probes have ended. It closes with an empty
///   window if less than `failureRatio` of them failed, and otherwise opens for another `breakDuration`.
/// - As long as a probe waits for its response head, one more request passes as a probe each time that another break
///   has passed, so that a request that hangs does not delay the return of a server that works again.
/// - If the probes have not ended within `probeTimeout`, the circuit opens if a probe has no response head by then.
///   Otherwise, the probes with a head count as successes.
/// - An outcome counts only if the circuit has not changed its state since the request passed.
/// - Failures are: status 500 and above except 501, status 408, timeouts of an exchange, failures to connect,
///   `connectionLost` and `truncated`, and exchanges that are cancelled once `context.deadline` has passed. Any other
///   response is a success, also 429.
/// - Not counted are other cancelled exchanges, `offline`, `timeout.pool` and all other errors, and the responses and
///   errors of a plugin inside that made no exchange, except for ``ChaosPlugin``. A probe that is not counted is
///   followed by another one.
/// - A response is a success when its body has ended or is released unread. If its body fails, the rules for errors
///   apply. A probe of a streamed call or a download is a success as soon as its head has arrived.
/// - Calls of one `partition` share a circuit, and copies of the plugin share all circuits. At most 1,000 are kept;
///   beyond that, one that is closed is forgotten, and first one without failures. A circuit needs less than 2 KB.
/// - Does not touch requests and responses. A stream of a response is passed on as it arrives.
/// - Measures time on the clock of the calls. Providers that share the plugin should have the same clock.
/// - Annotates calls with `opened`, `closed`, `probe` and `refused`.
///
/// **Defaults**
///
/// | setting | default | range | reason |
/// |---|---|---|---|
/// | `failureRatio` | 0.1 | more than 0, up to 1 | a healthy server fails far fewer requests |
/// | `minimumCallCount` | 100 | 1 and up | with fewer calls, a few failures by chance would open the circuit |
/// | `window` | ``Window/time(_:)``, 30 s | | old failures must not open the circuit of a server that works |
/// | `breakDuration` | 5 s | more than 0, up to one day | long enough for a restart, short enough for people who wait |
/// | `probeCount` | 1 | `1...1,000` | a server that recovers gets a single request |
/// | `probeTimeout` | 30 s | more than zero | a probe that hangs must not keep the circuit from being probed |
/// | `maximumBreakDuration` | `nil`: `breakDuration` | up to one day | the first break is 0.8 to 1.2 times `breakDuration`, and each break after a failed probe 1.6 to 2.4 times the one before, up to this, so that clients do not all return together |
/// | `slowCallDuration` | `nil`: a slow success is a success | more than zero | what counts as slow depends on the service |
/// | `partition` | ``TrafficPartition/authority`` | | servers fail independently |
///
/// The first four are those of Microsoft.Extensions.Http.Resilience. A window by count limits `minimumCallCount` to its
/// size.
///
/// **Position**
///
/// - Inside a cache, which serves hits while the circuit is open.
/// - Outside rate and concurrency limits, so that a refused request uses no permit.
/// - Inside `RetryPlugin`, each attempt counts. `RetryPlugin` does not retry `circuitOpen`.
/// - A server that never responds is noticed only if the time of an attempt or a call is limited, by `TimeoutPlugin`
///   or the transport.
/// - If a stack has two, both count every exchange.
///
/// **Errors**: `circuitOpen`, with `retryAfter` if it is known when the next probe is due, and with the latest failure
/// of the server as `refusalCause`. All other errors pass through unchanged.
///
/// **Secrets**: errors, changes and health name the origin of a request. They never show the key of a custom partition.
public struct CircuitBreakerPlugin: Stage.Exchange {
    private let partition: TrafficPartition
    private let decide: (@Sendable (Result<PipelineResponse, PipelineError>) -> Verdict?)?
    private let slowCallDuration: Duration?
    private let circuits: Circuits

    /// Makes a plugin with circuits that all its copies share.
    ///
    /// - Parameters:
    ///   - failureRatio: the share of failures at which a circuit opens.
    ///   - minimumCallCount: the number of outcomes below which a circuit does not open.
    ///   - window: the outcomes that count.
    ///   - breakDuration: how long an open circuit refuses all requests.
    ///   - probeCount: the number of requests that pass in a half-open circuit.
    ///   - probeTimeout: how long a half-open circuit waits for its probes.
    ///   - maximumBreakDuration: what a break grows to while the probes fail; `nil` if all breaks are equally long.
    ///   - slowCallDuration: the time to a head from which a success counts as a failure; `nil` for none.
    ///   - partition: the calls that share a circuit.
    ///   - decide: called with each response before its body is read, and with each error other than a cancellation,
    ///     also that of a body. If it returns `nil`, the rules above apply. It must be quick.
    public init(
        failureRatio: Double = 0.1,
        minimumCallCount: Int = 100,
        window: Window = .time(.seconds(30)),
        breakDuration: Duration = .seconds(5),
        probeCount: Int = 1,
        probeTimeout: Duration = .seconds(30),
        maximumBreakDuration: Duration? = nil,
        slowCallDuration: Duration? = nil,
        partition: TrafficPartition = .authority,
        decide: (@Sendable (_ outcome: Result<PipelineResponse, PipelineError>) -> Verdict?)? = nil
    ) {
        precondition(failureRatio > 0 && failureRatio <= 1, "failureRatio is \(failureRatio), not above 0 and up to 1")
        precondition(minimumCallCount > 0, "minimumCallCount is \(minimumCallCount), not 1 or more")
        precondition(
            breakDuration > .zero && breakDuration <= .seconds(86_400),
            "breakDuration is \(breakDuration), not between zero and a day"
        )
        if let maximumBreakDuration {
            precondition(
                maximumBreakDuration >= breakDuration && maximumBreakDuration <= .seconds(86_400),
                "maximumBreakDuration is \(maximumBreakDuration), not between breakDuration and a day"
            )
        }
        if let slowCallDuration {
            precondition(slowCallDuration > .zero, "slowCallDuration is \(slowCallDuration), not more than zero")
        }
        precondition((1...1_000).contains(probeCount), "probeCount is \(probeCount), not in 1...1,000")
        precondition(probeTimeout > .zero, "probeTimeout is \(probeTimeout), not more than zero")
        self.partition = partition
        self.slowCallDuration = slowCallDuration
        self.decide = decide
        circuits = Circuits(
            CircuitRules(
                failureRatio: failureRatio,
                minimumCallCount: minimumCallCount,
                window: window.rule,
                breakDuration: breakDuration,
                maximumBreakDuration: maximumBreakDuration,
                probeCount: probeCount,
                probeTimeout: probeTimeout
            )
        )
    }

    /// Sends the request if its circuit lets it pass, and counts the outcome.
    public func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        let key = partition.key(of: request, context)
        let circuit = circuits.circuit(of: key, on: context.clock, random: context.random)
        let start = slowCallDuration.map { _ in context.clock.now }
        let permit: Circuit.Permit
        switch circuit.admit(on: context.clock) {
        case .passes(let passed): permit = passed
        case .refused(let state, let retryAfter): throw await refusal(by: circuit, state, retryAfter, context)
        }
        if permit.isProbe { context.annotate("probe", by: self) }
        do {
            let response = try await SharedCircuit.$passed.withValue(circuit) { try await send(request) }
            return noting(response, circuit, permit, isSlow: isSlow(since: start, context), context)
        } catch let error where (error as? PipelineError)?.underlyingError is CircuitHasOpened {
            end(permit, of: circuit, .ignored, context)
            let status = circuit.status(on: context.clock)
            let state = status.state == .closed ? .open : status.state
            throw await refusal(by: circuit, state, status.remainingBreak, context)
        } catch {
            let ending = ending(of: error, isOfBody: false, context)
            end(permit, of: circuit, ending, cause: Self.cause(error), context)
            throw error
        }
    }

    /// Returns whether the head of a response took longer than that of a working server.
    private func isSlow(since start: PipelineClock.Instant?, _ context: PipelineContext) -> Bool {
        guard let start, let slowCallDuration else { return false }
        return start.duration(to: context.clock.now) >= slowCallDuration
    }

    /// Returns the error of a refused request.
    @inline(never)
    private func refusal(
        by circuit: SharedCircuit,
        _ state: CircuitState,
        _ retryAfter: Duration?,
        _ context: PipelineContext
    ) async -> PipelineError {
        // A loop of refused calls must not keep a thread from those that would close the circuit.
        await Task.yield()
        context.annotate("refused", by: self)
        return .refused(by: circuit, in: state, retryAfter: retryAfter)
    }

    /// Returns the response, and ends the permit now or at the end of the body.
    private func noting(
        _ response: PipelineResponse,
        _ circuit: SharedCircuit,
        _ permit: Circuit.Permit,
        isSlow: Bool,
        _ context: PipelineContext
    ) -> PipelineResponse {
        var ending = ending(of: response, context)
        var cause = PipelineError.RefusalCause(code: .unacceptableStatus, statusCode: response.statusCode)
        if isSlow, ending == .success {
            ending = .failure
            cause = PipelineError.RefusalCause(code: .timeout(.head), statusCode: nil)
        }
        // A body in memory has ended, and needs no closure.
        guard ending == .success, response.body.isStream, !(permit.isProbe && Self.endsWithHead(context)) else {
            end(permit, of: circuit, ending, cause: cause, context)
            return response
        }
        return watching(response, circuit, permit, context)
    }

    /// Not inlined, because most responses have their body in memory.
    @inline(never)
    private func watching(
        _ response: PipelineResponse,
        _ circuit: SharedCircuit,
        _ permit: Circuit.Permit,
        _ context: PipelineContext
    ) -> PipelineResponse {
        let hadHead = circuit.noteHead(permit)
        var response = response
        response.body = response.body.onEnd { how in
            switch how {
            case .complete, .released: end(permit, of: circuit, .success, hadHead: hadHead, context)
            case .failed(let error):
                let ending = ending(of: error, isOfBody: true, context)
                end(permit, of: circuit, ending, hadHead: hadHead, cause: Self.cause(error), context)
            }
        }
        return response
    }

    /// Returns what a response says about the server whose body has not been read.
    private func ending(of response: PipelineResponse, _ context: PipelineContext) -> Circuit.Ending {
        if let verdict = decide?(.success(response)) { return verdict.ending }
        // A plugin inside has responded without an exchange.
        guard response.source == .network || context.isSimulated else { return .ignored }
        let status = response.statusCode
        return status == 408 || status >= 500 && status != 501 ? .failure : .success
    }

    /// Returns what the failure of an exchange or of a body says about the server.
    private func ending(of error: any Error, isOfBody: Bool, _ context: PipelineContext) -> Circuit.Ending {
        let isFailure: Bool
        if let error = error as? PipelineError, error.code != .cancelled {
            if let verdict = decide?(.failure(error)) { return verdict.ending }
            isFailure = Self.isFailure(error.code)
        } else {
            // A call that was cancelled because its time was up had a server that was too slow.
            let isCancelled = error is CancellationError || error is PipelineError
            isFailure = isCancelled && context.latestDeadline.map { $0 <= context.clock.now } ?? false
        }
        // Without an exchange, a plugin inside has failed.
        return isFailure && (isOfBody || Self.hasExchange(context)) ? .failure : .ignored
    }

    /// Returns whether a code blames the server or the way to it.
    private static func isFailure(_ code: PipelineError.Code) -> Bool {
        switch code {
        // Without a network, all circuits would open, and delay the calls after it has returned.
        case .offline: false
        // The connections of this process are busy, which says nothing about the server.
        case .timeout(.pool): false
        case .connectionLost, .truncated: true
        case .timeout(.attempt), .timeout(.head), .timeout(.idle), .timeout(.write): true
        default: code.provesNothingSent
        }
    }

    private func end(
        _ permit: Circuit.Permit,
        of circuit: SharedCircuit,
        _ ending: Circuit.Ending,
        hadHead: Bool = false,
        cause: PipelineError.RefusalCause? = nil,
        _ context: PipelineContext
    ) {
        switch circuit.end(permit, ending, hadHead: hadHead, cause: cause, on: context.clock) {
        case .open: context.annotate("opened", by: self)
        case .closed: context.annotate("closed", by: self)
        default: break
        }
    }

    /// Returns what a counted failure is called; a cancellation counts only once the time of the call is up.
    private static func cause(_ error: any Error) -> PipelineError.RefusalCause {
        guard let error = error as? PipelineError, error.code != .cancelled else {
            return .init(code: .timeout(.total), statusCode: nil)
        }
        return .init(code: error.code, statusCode: error.response?.statusCode)
    }

    /// Returns whether a probe ends at the head of its response, so that other calls need not wait for a long body.
    private static func endsWithHead(_ context: PipelineContext) -> Bool {
        context.isStreaming || context.isDownload
    }

    /// Returns whether an exchange of this attempt and hop was made or simulated.
    private static func hasExchange(_ context: PipelineContext) -> Bool {
        context.exchanges.contains { $0.attempt == context.attempt && $0.hop == context.hop } || context.isSimulated
    }
}

extension CircuitBreakerPlugin {
    /// The changes of the states of all circuits, from now on.
    ///
    /// Each access returns a new sequence, and any number may be in use. A sequence ends when the plugin and its copies
    /// are released. It buffers up to 100 changes; a subscriber that falls behind misses the oldest.
    public var stateChanges: some AsyncSequence<StateChange, Never> & Sendable { circuits.changes.subscribe() }

    /// Returns the state of a circuit; `closed` if it has not been used.
    ///
    /// The text is an origin such as `https://a.test`, or a key of a custom partition. An open circuit remains open
    /// after its break, until the next request begins a probe.
    public func state(of partition: String) -> CircuitState {
        self.partition.key(named: partition).map(circuits.state(of:)) ?? .closed
    }

    /// Refuses all requests of a partition until it is reset.
    ///
    /// Requests in progress go on.
    ///
    /// - Parameter partition: an origin such as `https://a.test`, or a key of a custom partition; `nil` for all,
    ///   including those that have not been used.
    /// - Returns: `false` if the text is not an origin, so that nothing has changed.
    @discardableResult
    public func isolate(_ partition: String? = nil) -> Bool { change(partition, isIsolated: true) }

    /// Closes the circuit of a partition and forgets its outcomes.
    ///
    /// - Parameter partition: an origin such as `https://a.test`, or a key of a custom partition; `nil` for all.
    /// - Returns: `false` if the text is not an origin, so that nothing has changed.
    @discardableResult
    public func reset(_ partition: String? = nil) -> Bool { change(partition, isIsolated: false) }

    private func change(_ partition: String?, isIsolated: Bool) -> Bool {
        guard let partition else {
            circuits.changeAll(isIsolated: isIsolated)
            return true
        }
        guard let key = self.partition.key(named: partition) else { return false }
        circuits.circuit(of: key).change(isIsolated: isIsolated)
        return true
    }
}

extension CircuitBreakerPlugin: HealthReporting {
    /// The health: degraded if a circuit is not closed, and unhealthy if all refuse requests.
    ///
    /// An open circuit whose break is over refuses nothing, because the next request is a probe.
    public func health(on clock: PipelineClock) -> PluginHealth { circuits.health(on: clock) }
}

extension CircuitBreakerPlugin: CapabilityDeclaring {
    private static let breaksCircuits = PluginCapability("breaks circuits")

    /// A capability of its own, for its order rules.
    public var capabilities: Set<PluginCapability> { [Self.breaksCircuits] }

    /// Finds a breaker outside a cache, two breakers, and one without a timeout for attempts or calls.
    public var orderRules: [OrderRule] {
        [
            OrderRule(
                "breaker-outside-cache",
                [Self.breaksCircuits],
                .outside,
                [.caches],
                consequence: "an open circuit refuses requests that the cache could serve"
            ),
            OrderRule(
                "breaker-twice",
                [Self.breaksCircuits],
                .inside,
                [Self.breaksCircuits],
                consequence: "both count every exchange",
                remedy: "keep one of them"
            ),
            OrderRule(
                "breaker-without-timeout",
                [Self.breaksCircuits],
                .without,
                [.limitsExchanges],
                consequence: "a server that never responds is noticed only when the transport gives up",
                remedy: "add TimeoutPlugin(attempt:)",
                severity: .hint
            ),
        ]
    }
}
