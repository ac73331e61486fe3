import Foundation
import Pipeline
import PipelineContentCoding
import PipelineStores

extension RateLimitPlugin {
    /// Waits until the request has its permits, in the store, too, and the gate is open.
    func wait(
        at turnstile: Turnstile<RateMeter>,
        for request: PipelineRequest,
        _ context: PipelineContext
    ) async throws {
        let start = context.clock.now
        let limits = [context.deadline, maximumWait.map { start.advanced(by: $0) }]
        let deadline = limits.compactMap(\.self).min()
        do {
            while try await !pass(turnstile, request, before: deadline, context) {}
        } catch let refusal as TurnstileRefusal {
            guard refusal.reason != .cancelled else { throw CancellationError() }
            context.annotate("refused", by: self)
            throw error(for: refusal, context)
        }
        let waited = start.duration(to: context.clock.now)
        if waited > .zero { context.annotate("waited", by: self, duration: waited) }
    }

    /// Waits in line, and for the moment that the store names; returns `false` if the gate has been closed since.
    private func pass(
        _ turnstile: Turnstile<RateMeter>,
        _ request: PipelineRequest,
        before deadline: PipelineClock.Instant?,
        _ context: PipelineContext
    ) async throws -> Bool {
        let (clock, cost) = (context.clock, context.options.cost)
        if !turnstile.enterAtOnce(cost, before: deadline, on: clock) {
            let (priority, mayWait) = (context.options.priority, maximumWait != .zero)
            _ = try await context.recordSpan("rate limit", as: .wait) {
                () async throws(TurnstileRefusal) in
                try await turnstile.enter(cost, priority, before: deadline, on: clock, mayWait: mayWait)
            }
        }
        do {
            try await reserve(cost, request, before: deadline, context)
        } catch {
            turnstile.change(on: clock) { $0.cancel(cost) }
            throw error
        }
        let now = clock.now
        return turnstile.change(on: clock) { meter in
            guard meter.closure(at: now) != nil else { return true }
            meter.cancel(cost)
            return false
        }
    }

    /// Reserves the request in the store and waits for its moment; does nothing if the store is unavailable.
    private func reserve(
        _ cost: Int,
        _ request: PipelineRequest,
        before deadline: PipelineClock.Instant?,
        _ context: PipelineContext
    ) async throws {
        guard let store, let limit else { return }
        let clock = context.clock
        let rest = deadline.map { max(.zero, clock.now.duration(to: $0)) }
        let delay: Duration
        do {
            delay = try await store.reserve(
                cost,
                of: partition.key(of: request, context).storedName,
                interval: limit.sharedInterval,
                burst: limit.burst,
                within: rest
            )
        } catch {
            try Task.checkCancellation()
            return
        }
        if let rest, delay > rest { throw TurnstileRefusal(reason: .tooLate, wait: delay) }
        guard delay > .zero else { return }
        let moment = clock.now.advanced(by: delay)
        try await context.recordSpan("rate limit", as: .wait) { try await clock.sleep(until: moment) }
    }

    private func error(for refusal: TurnstileRefusal, _ context: PipelineContext) -> PipelineError {
        let reason =
            switch refusal.reason {
            case .tooCostly: "the cost of \(context.options.cost) exceeds the rate limit"
            case .full: "too many calls wait for the rate limit"
            default: "the rate limit does not permit the request in time"
            }
        return .refused(.limit(.rate), reason, retryAfter: refusal.wait)
    }
}

extension TrafficKey {
    /// The name of the partition in a store, which contains no secrets.
    fileprivate var storedName: String {
        shownName ?? SHA256.hash(Array(text.utf8)).map { String(format: "%02x", $0) }.joined()
    }
}
