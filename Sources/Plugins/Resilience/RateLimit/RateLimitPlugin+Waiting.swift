import PipelineCore

extension RateLimitPlugin {
    /// Waits until the request has its permits, those of the store included, and the gate is open.
    func wait(
        for permits: PermitQueue<RateMeter>,
        _ request: PipelineRequest,
        _ context: PipelineContext
    ) async throws {
        let start = context.clock.now
        /// Whether the request waited for more than a round trip to the store.
        var hasWaited = false
        do {
            repeat {
                if !permits.enterAtOnce(context.options.cost, before: context.latestDeadline, on: context.clock) {
                    hasWaited = try await enter(permits, since: start, context) || hasWaited
                }
                do {
                    hasWaited = try await reserve(request, since: start, context) || hasWaited
                    try SharedCircuit.checkPassed()
                } catch {
                    Self.cancel(permits, context)
                    throw error
                }
            } while returnsToGate(permits, context)
        } catch let refusal as PermitRefusal {
            // A loop of refused calls must not keep a thread from those that have permits.
            await Task.yield()
            context.annotate("refused", by: self)
            throw Self.error(for: refusal, permits, context)
        }
        if hasWaited { context.annotate("waited", by: self, duration: start.duration(to: context.clock.now)) }
    }

    /// Takes permits of this process; returns whether the request waited.
    private func enter(
        _ permits: PermitQueue<RateMeter>,
        since start: PipelineClock.Instant,
        _ context: PipelineContext
    ) async throws -> Bool {
        let cost = context.options.cost
        return try await permits.enter(cost, context, within: rest(since: start, context), span: "rate limit") > .zero
    }

    /// Returns how much longer the request may wait apart from the deadline; `nil` if that is not limited.
    private func rest(since start: PipelineClock.Instant, _ context: PipelineContext) -> Duration? {
        maximumWait.map { max(.zero, $0 - start.duration(to: context.clock.now)) }
    }

    /// Returns the permits if the gate has been closed while the request waited for the store.
    private func returnsToGate(_ permits: PermitQueue<RateMeter>, _ context: PipelineContext) -> Bool {
        let now = context.clock.now
        return permits.change(on: context.clock) { meter in
            guard meter.closure(at: now) != nil else { return false }
            meter.cancel(context.options.cost, at: now)
            return true
        }
    }

    static func cancel(_ permits: PermitQueue<RateMeter>, _ context: PipelineContext) {
        let now = context.clock.now
        permits.change(on: context.clock) { $0.cancel(context.options.cost, at: now) }
    }

    /// Reserves the request in the store and waits for its moment; returns whether it waited.
    private func reserve(
        _ request: PipelineRequest,
        since start: PipelineClock.Instant,
        _ context: PipelineContext
    ) async throws -> Bool {
        guard let quota else { return false }
        let (clock, key) = (context.clock, partition.key(of: request, context))
        let reserved = try await quota.reserve(context.options.cost, of: key, on: clock, context.operatorLog) {
            let remaining = context.latestDeadline.map { max(.zero, clock.now.duration(to: $0)) }
            return [rest(since: start, context), remaining].compactMap(\.self).min()
        }
        guard let reserved else { return try await goOnWithoutStore(key, since: start, context) }
        guard reserved > .zero else { return false }
        let moment = clock.now.advanced(by: reserved)
        try await context.recordSpan("rate limit", as: .wait) {
            try await SharedCircuit.sleep(until: moment, on: clock)
        }
        return true
    }

    /// Keeps this process within its share of the limit while the store is unavailable; returns whether it waited.
    private func goOnWithoutStore(
        _ key: TrafficKey,
        since start: PipelineClock.Instant,
        _ context: PipelineContext
    ) async throws -> Bool {
        context.annotate("store unavailable", by: self)
        guard let limit, let share = onStoreFailure.share else { throw PermitRefusal(reason: .unavailable) }
        guard share < 1 else { return false }
        let permits = substitutes.object(for: key, on: context.clock) {
            PermitQueue(
                RateMeter(limit.scaled(by: share), spread: .zero, isShared: false, at: context.clock.now),
                maximumWaitingCount: maximumWaitingCount
            )
        }
        let hasWaited = try await enter(permits, since: start, context)
        let now = context.clock.now
        permits.change(on: context.clock) { _ = $0.depart(context.options.cost, at: now) }
        return hasWaited
    }

    private static func error(
        for refusal: PermitRefusal,
        _ permits: PermitQueue<RateMeter>,
        _ context: PipelineContext
    ) -> PipelineError {
        let now = context.clock.now
        let gateCause = permits.read { meter, _ in meter.cause(at: now) }
        let (reason, cause): (String, PipelineError.RefusalCause?) =
            switch refusal.reason {
            case .tooCostly: ("the cost of \(context.options.cost) exceeds the rate limit", nil)
            case .full: ("too many calls wait for the rate limit", gateCause)
            case .unavailable: ("the store of the rate limit is unavailable", nil)
            default: ("the rate limit does not permit the request in time", gateCause)
            }
        return .refused(.limit(.rate), after: cause ?? context.earlierFailure, reason, retryAfter: refusal.wait)
    }
}
