public import PipelineCore

/// A plugin that limits how many requests are in progress at the same time.
///
/// ```swift
/// ConcurrencyLimitPlugin(.fixed(8))
/// ConcurrencyLimitPlugin(.adaptive(), queue: 500, maximumWait: .seconds(2))
/// ```
///
/// A server that gets more requests than it can work on responds to all of them later, and soon too late. The plugin
/// holds such requests back, so that the server works only on those whose callers still wait.
///
/// **Effects**
///
/// - A request takes a permit of its partition before it is sent. The permit is returned when the body of the response
///   has ended or is released, or when the request fails or is cancelled. A streamed call returns it with the head of
///   its response, because its reader decides when the body ends: open event streams take no permits.
/// - If no permit is free, the request waits in a bounded queue. Higher priorities, as set by `priority`, go first, but
///   each lower priority gets at least one permit in ten. Requests of the same priority go in the order of arrival.
/// - If the queue is full, the newest request of the lowest priority in it is refused in favor of one with a higher
///   priority; otherwise the new request is refused. Each priority keeps a tenth of the places.
/// - A request whose `context.deadline` would pass is refused: at once if less time is left than a request usually
///   takes, and while it waits as soon as less is left than almost all requests take, or than half of what was left
///   at first. One request that still awaits its head is always let through, to learn whether the server has become
///   faster.
/// - An adaptive limit learns from each exchange that succeeds: from the time until the end of the body, or until the
///   header fields for a streamed call. The statuses 429, 503 and 504 count as dropped requests. So do timeouts, and
///   calls that are cancelled because their time is up, once they are a quarter of the latest requests: a few may have
///   had little time left when they were sent. Other errors and cancelled calls say nothing. `decide` changes that.
/// - Each hop of a redirect needs a permit of its own partition, while the body of the hop before is discarded first.
/// - Does not touch requests and responses, except that a streamed body is watched for its end. Keeps at most 1,000
///   partitions. A free permit costs two short locks and no allocation.
/// - Providers that share the plugin must have comparable clocks, see `PipelineClock.Instant`.
/// - Annotates an exchange that waited with `waited` and the duration, and a call that was refused with `refused`. With
///   a timeline, the wait is the span `permit`.
///
/// **Defaults**
///
/// | setting | default | range |
/// |---|---|---|
/// | `limit` | 20 requests | 1 and up |
/// | `queue` | 1,000 requests for each partition | 0 and up |
/// | `maximumWait` | 10 s | more than zero, `nil` for no limit |
/// | `partition` | one for each scheme, host and port | |
///
/// **Position**
///
/// - Inside a cache, so that a response from the cache needs no permit.
/// - Inside a plugin that limits the rate, so that no request keeps a permit while it waits for its turn.
/// - Outside plugins that sign requests, so that a signature does not age in the queue.
/// - The time in the queue does not count as part of an attempt timeout, but does count as part of a total timeout.
///
/// **Errors**: `limit.concurrency` if the queue is full, and `timeout.queue` if no permit was free in time. In both
/// cases, nothing was sent, and `refusalCause` is the failure of the attempt before. A cancelled call ends as
/// cancelled. All other failures pass through unchanged.
///
/// **Secrets**: none. Errors and reports show the origin of a partition, but no key from a closure.
///
/// Source: https://www.rfc-editor.org/rfc/rfc6298.html for the time that a waiting request leaves for its exchange
public struct ConcurrencyLimitPlugin: Stage.Exchange, OptionHandling, HealthReporting, CapabilityDeclaring {
    /// What an outcome says about the capacity of the server.
    public struct Verdict: Sendable, Hashable {
        let outcome: PermitMeter.Outcome?

        /// The server had room for the request; its latency counts.
        public static let success = Verdict(outcome: .answered)
        /// The server had no room for the request.
        public static let dropped = Verdict(outcome: .refused)
        /// The outcome is not counted.
        public static let ignored = Verdict(outcome: nil)
    }

    private typealias Decision = @Sendable (Result<PipelineResponse, PipelineError>) -> Verdict?

    private let limit: ConcurrencyLimit
    private let queue: Int
    private let maximumWait: Duration?
    private let partition: TrafficPartition
    private let decide: Decision?
    let partitions = PartitionMap<PermitQueue<PermitMeter>>()

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - limit: the number of requests at the same time for each partition.
    ///   - queue: the maximum number of requests that wait in each partition.
    ///   - maximumWait: the longest time that a request waits.
    ///   - partition: the requests that share a limit.
    ///   - decide: called with each response before its body is read, and with each error other than a cancellation. If
    ///     it returns `nil`, the rules above apply. It must be quick.
    public init(
        _ limit: ConcurrencyLimit = .fixed(20),
        queue: Int = 1_000,
        maximumWait: Duration? = .seconds(10),
        partition: TrafficPartition = .authority,
        decide: (@Sendable (_ outcome: Result<PipelineResponse, PipelineError>) -> Verdict?)? = nil
    ) {
        precondition(queue >= 0, "queue is \(queue), less than 0")
        if let maximumWait { precondition(maximumWait > .zero, "maximumWait is \(maximumWait), not more than zero") }
        self.limit = limit
        self.queue = queue
        self.maximumWait = maximumWait
        self.partition = partition
        self.decide = decide
    }

    /// Sends the request as soon as it has a permit.
    public func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        let key = partition.key(of: request, context)
        let permits = partitions.object(for: key, on: context.clock) {
            PermitQueue(PermitMeter(limit), maximumWaitingCount: queue)
        }
        if !permits.enterAtOnce(before: context.latestDeadline, on: context.clock) {
            try await wait(for: permits, of: key, context)
            do { try SharedCircuit.checkPassed() } catch {
                permits.leave(from: context.clock.now, on: context.clock, nil)
                throw error
            }
            let departures = context[RateDepartures.self]
            if departures.contains(where: { $0.belongs(to: context) && $0.isGated(on: context.clock) }) {
                permits.leave(from: context.clock.now, on: context.clock, nil)
                throw RateGateClosed()
            }
        }
        let start = context.clock.now
        do {
            var response = try await send(request)
            let outcome = outcome(of: response)
            guard response.body.isStream, !context.isStreaming else {
                permits.leave(from: start, on: context.clock, outcome)
                return response
            }
            let clock = context.clock
            response.body = response.body.onEnd { permits.leave(from: start, on: clock, .of($0, outcome)) }
            return response
        } catch {
            permits.leave(from: start, on: context.clock, outcome(of: error, context))
            throw error
        }
    }

    private func outcome(of response: PipelineResponse) -> PermitMeter.Outcome? {
        if let verdict = decide?(.success(response)) { return verdict.outcome }
        return switch response.statusCode {
        case 429, 503, 504: .refused
        // An error may come early or late, whatever the load.
        case 400...: nil
        default: .answered
        }
    }

    private func outcome(of error: any Error, _ context: PipelineContext) -> PermitMeter.Outcome? {
        let error = error as? PipelineError
        if let decide, let error, error.code != .cancelled, let verdict = decide(.failure(error)) {
            return verdict.outcome
        }
        return .of(error, deadline: context.latestDeadline, context.clock)
    }

    /// Waits for a permit, or throws the reason why there is none.
    private func wait(
        for permits: PermitQueue<PermitMeter>,
        of key: TrafficKey,
        _ context: PipelineContext
    ) async throws {
        do {
            let duration = try await permits.enter(1, context, within: maximumWait, span: "permit")
            if duration > .zero { context.annotate("waited", by: self, duration: duration) }
        } catch let refusal as PermitRefusal {
            // A loop of refused calls must not keep a thread from those that have permits.
            await Task.yield()
            context.annotate("refused", by: self)
            throw error(for: refusal, key, context)
        }
    }

    private func error(
        for refusal: PermitRefusal,
        _ key: TrafficKey,
        _ context: PipelineContext
    ) -> PipelineError {
        let place = key.shownName.map { " to \($0)" } ?? " of the partition"
        let cause = context.earlierFailure
        guard refusal.reason == .full else {
            let reason = "no permit for a request\(place) was free in time, nothing was sent"
            return .refused(.timeout(.queue), after: cause, reason)
        }
        let reason = "\(queue) requests\(place) are already waiting, nothing was sent"
        return .refused(.limit(.concurrency), after: cause, reason)
    }
}

extension PermitQueue<PermitMeter> {
    fileprivate func leave(
        from start: PipelineClock.Instant,
        on clock: PipelineClock,
        _ outcome: PermitMeter.Outcome?
    ) {
        let end = clock.now
        change(on: clock) { $0.release(from: start, to: end, outcome) }
    }
}

extension PermitMeter.Outcome {
    /// Returns the outcome of an exchange whose body has ended.
    fileprivate static func of(_ end: BodyEnd, _ head: Self?) -> Self? {
        switch end {
        case .complete: head
        case .released: nil
        case .failed(let error): (error as? PipelineError)?.code.isKind(of: .timeout) == true ? .late : nil
        }
    }

    /// Returns the outcome of an exchange that failed.
    fileprivate static func of(
        _ error: PipelineError?,
        deadline: PipelineClock.Instant?,
        _ clock: PipelineClock
    ) -> Self? {
        switch error?.code {
        // A plugin inside refused the request, or another call was at fault.
        case .some(.timeout(.queue)): nil
        case .some(.timeout): .late
        // The call was cancelled because its time was up, so the server was too slow.
        case .some(.cancelled), nil: deadline.map { $0 <= clock.now } ?? false ? .late : nil
        default: nil
        }
    }
}
