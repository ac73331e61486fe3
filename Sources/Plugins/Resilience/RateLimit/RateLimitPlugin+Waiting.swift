import PipelineCore

extension RateLimitPlugin {
    /// A request that waits for its permits.
    private struct Wait {
        let turnstile: Turnstile<RateMeter>
        let request: PipelineRequest
        let context: PipelineContext
        let start: PipelineClock.Instant
        let maximum: Duration?
        /// Whether it waited for more than a round trip to the store.
        var hasWaited = false

        var clock: PipelineClock { context.clock }
        var cost: Int { context.options.cost }
        var elapsed: Duration { start.duration(to: clock.now) }

        /// How much longer the request may wait apart from the deadline; `nil` if that is not limited.
        var rest: Duration? { maximum.map { max(.zero, $0 - elapsed) } }

        /// How much longer the request may wait; `nil` if that is not limited.
        var patience: Duration? {
            [rest, context.latestDeadline.map { max(.zero, clock.now.duration(to: $0)) }].compactMap(\.self).min()
        }
    }

    /// Waits until the request has its permits, those of the store included, and the gate is open.
    func wait(
        at turnstile: Turnstile<RateMeter>,
        for request: PipelineRequest,
        _ context: PipelineContext
    ) async throws {
        var wait = Wait(
            turnstile: turnstile,
            request: request,
            context: context,
            start: context.clock.now,
            maximum: maximumWait
        )
        do {
            while try await !pass(&wait) {}
        } catch let refusal as TurnstileRefusal {
            guard refusal.reason != .cancelled else { throw CancellationError() }
            guard refusal.reason != .circuitOpen else { throw CircuitHasOpened() }
            await Task.yield()
            context.annotate("refused", by: self)
            throw Self.error(for: refusal, at: turnstile, context)
        }
        if wait.hasWaited { context.annotate("waited", by: self, duration: wait.elapsed) }
    }

    /// Waits in line, and for the moment that the store names; returns `false` if the gate has been closed since.
    private func pass(_ wait: inout Wait) async throws -> Bool {
        let (turnstile, context, cost) = (wait.turnstile, wait.context, wait.cost)
        if !turnstile.enterAtOnce(cost, before: context.latestDeadline, on: wait.clock) {
            let (clock, rest) = (wait.clock, wait.rest)
            let waited = try await context.recordSpan("rate limit", as: .wait) {
                () async throws(TurnstileRefusal) in
                try await turnstile.enter(
                    cost,
                    context.options.priority,
                    before: { context.latestDeadline },
                    within: rest,
                    on: clock
                )
            }
            if waited > .zero { wait.hasWaited = true }
        }
        do {
            try await reserve(&wait)
            try CircuitPass.check()
        } catch {
            let now = wait.clock.now
            turnstile.change(on: wait.clock) { $0.cancel(cost, at: now) }
            throw error
        }
        let now = wait.clock.now
        return turnstile.change(on: wait.clock) { meter in
            guard meter.closure(at: now) != nil else { return true }
            meter.cancel(cost, at: now)
            return false
        }
    }

    /// Reserves the request in the store and waits for its moment; does nothing if the store is unavailable.
    private func reserve(_ wait: inout Wait) async throws {
        guard let quota else { return }
        let key = partition.key(of: wait.request, wait.context)
        let reserved = try await quota.reserve(wait.cost, of: key, on: wait.clock, wait.context.operatorLog) { [wait] in
            wait.patience
        }
        guard let delay = reserved else { return try await goOnWithoutStore(&wait, key) }
        guard delay > .zero else { return }
        wait.hasWaited = true
        let (clock, moment) = (wait.clock, wait.clock.now.advanced(by: delay))
        try await wait.context.recordSpan("rate limit", as: .wait) {
            try await CircuitPass.sleep(until: moment, on: clock)
        }
    }

    /// Keeps this process within its share of the limit while the store is unavailable.
    private func goOnWithoutStore(_ wait: inout Wait, _ key: TrafficKey) async throws {
        wait.context.annotate("store unavailable", by: self)
        guard let limit, let share = onStoreFailure.share else { throw TurnstileRefusal(reason: .unavailable) }
        guard share < 1 else { return }
        let (context, clock, cost) = (wait.context, wait.clock, wait.cost)
        let turnstile = substitutes.object(for: key, on: clock) {
            Turnstile(
                RateMeter(limit.scaled(by: share), spread: .zero, isShared: false),
                maximumWaitingCount: maximumWaitingCount
            )
        }
        let waited = try await turnstile.enter(
            cost,
            context.options.priority,
            before: { context.latestDeadline },
            within: wait.rest,
            on: clock
        )
        if waited > .zero { wait.hasWaited = true }
        let now = clock.now
        turnstile.change(on: clock) { _ = $0.depart(cost, at: now) }
    }

    private static func error(
        for refusal: TurnstileRefusal,
        at turnstile: Turnstile<RateMeter>,
        _ context: PipelineContext
    ) -> PipelineError {
        let now = context.clock.now
        let reason =
            switch refusal.reason {
            case .tooCostly: "the cost of \(context.options.cost) exceeds the rate limit"
            case .full: "too many calls wait for the rate limit"
            case .unavailable: "the store of the rate limit is unavailable"
            default: "the rate limit does not permit the request in time"
            }
        let mayBeGated = refusal.reason != .tooCostly && refusal.reason != .unavailable
        let cause = mayBeGated ? turnstile.read { meter, _ in meter.cause(at: now) } : nil
        return .refused(.limit(.rate), after: cause ?? context.earlierFailure, reason, retryAfter: refusal.wait)
    }
}
