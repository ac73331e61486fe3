import PipelineCore
import Synchronization

/// Calls that pass once a meter has permits for them, and wait in a queue until then.
///
/// It starts no tasks of its own. One of the waiting calls, the driver, sleeps until the next permits or the earliest
/// deadline, and then serves the queue for all. When the driver leaves, another call takes over.
final class PermitQueue<Meter: TrafficMeter>: PartitionObject {
    private let state: Mutex<PermitQueueState<Meter>>

    /// Makes a queue without calls.
    ///
    /// - Parameters:
    ///   - meter: the rule by which permits are handed out.
    ///   - maximumWaitingCount: the maximum number of waiting calls, 0 and up.
    init(_ meter: Meter, maximumWaitingCount: Int) {
        state = Mutex(PermitQueueState(meter: meter, maximumWaitingCount: maximumWaitingCount))
    }

    /// Whether no call waits and the meter is idle.
    func isIdle(at now: PipelineClock.Instant) -> Bool { state.withLock { $0.isIdle(at: now) } }

    /// The number of waiting calls.
    var waitingCount: Int { state.withLock { $0.waitingCount } }

    /// Returns what a closure makes of the meter and the number of waiting calls.
    func read<Output: Sendable>(_ body: (Meter, Int) -> Output) -> Output {
        state.withLock { body($0.meter, $0.waitingCount) }
    }

    /// Takes permits if they are there and no call waits; neither suspends nor allocates.
    ///
    /// - Parameters:
    ///   - cost: the number of permits.
    ///   - deadline: the moment by which the work of the call must have ended.
    ///   - clock: the clock of the call.
    /// - Returns: whether the call has its permits.
    func enterAtOnce(_ cost: Int = 1, before deadline: PipelineClock.Instant? = nil, on clock: PipelineClock) -> Bool {
        let now = clock.now
        return state.withLock { $0.takeAtOnce(cost, before: deadline, at: now) }
    }

    /// Takes permits, and waits for them if necessary.
    ///
    /// Permits that were granted before the task was cancelled belong to the caller.
    ///
    /// - Parameters:
    ///   - cost: the number of permits.
    ///   - priority: the priority in the queue.
    ///   - deadline: returns the moment by which the work of the call must have ended; called again when that has come,
    ///     because a call that joins may have more time.
    ///   - maximumWait: the longest wait; zero if the call must not wait.
    ///   - clock: the clock of the call; calls that share a queue must have comparable clocks.
    /// - Returns: how long the call waited.
    /// - Throws: the reason why the call has no permits; `circuitOpen` once the circuit opens that has let it pass.
    func enter(
        _ cost: Int = 1,
        _ priority: TrafficPriority = .normal,
        before deadline: @escaping @Sendable () -> PipelineClock.Instant? = { nil },
        within maximumWait: Duration? = nil,
        on clock: PipelineClock
    ) async throws(PermitRefusal) -> Duration {
        let start = clock.now
        let (arrival, signals) = state.withLock {
            $0.arrive(cost, priority, before: deadline, within: maximumWait, at: start)
        }
        signals.send()
        switch arrival {
        case .admitted: return .zero
        case .refused(let refusal): throw refusal
        case .waits(let id):
            let circuit = SharedCircuit.passed
            let watch = circuit?.watch { [weak self] in self?.leave(id, .circuitOpen, clock) }
            defer { circuit?.endWatch(watch) }
            let signal = await withTaskCancellationHandler {
                await ending(of: id, clock)
            } onCancel: {
                leave(id, .cancelled, clock)
            }
            switch signal {
            case .admitted(let moment): return max(.zero, start.duration(to: moment))
            case .refused(let refusal): throw refusal
            case .alarm: throw PermitRefusal(reason: .cancelled)
            }
        }
    }

    /// Takes permits for a request, and waits for them if necessary, as a span of the call.
    ///
    /// - Throws: a ``PermitRefusal``, `CancellationError`, or ``CircuitHasOpened``.
    func enter(
        _ cost: Int,
        _ context: PipelineContext,
        within maximumWait: Duration?,
        span: String
    ) async throws -> Duration {
        do {
            return try await context.recordSpan(span, as: .wait) { () async throws(PermitRefusal) in
                try await enter(
                    cost,
                    context.options.priority,
                    before: { context.latestDeadline },
                    within: maximumWait,
                    on: context.clock
                )
            }
        } catch {
            switch error.reason {
            case .cancelled: throw CancellationError()
            case .circuitOpen: throw CircuitHasOpened()
            default: throw error
            }
        }
    }

    /// Changes the meter, for example to release permits, and admits the calls that can go then.
    @discardableResult
    func change<Output: Sendable>(on clock: PipelineClock, _ body: (inout Meter) -> Output) -> Output {
        let now = clock.now
        let (output, signals) = state.withLock { state in
            let output = body(&state.meter)
            return (output, state.serve(at: now))
        }
        signals.send()
        return output
    }

    /// Waits until the call is admitted or refused, and drives the queue if it is asked to.
    private func ending(of id: Int, _ clock: PipelineClock) async -> PermitSignal {
        var signal = await next(id)
        while signal == .alarm {
            // A final signal follows if the call drives the queue no longer.
            guard let moment = state.withLock({ $0.alarm(of: id) }) else {
                signal = await next(id)
                continue
            }
            signal = await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.ring(at: moment, clock) }
                let signal = await next(id)
                group.cancelAll()
                return signal
            }
        }
        return signal
    }

    /// Waits for the next signal to a call.
    private func next(_ id: Int) async -> PermitSignal {
        await withCheckedContinuation { continuation in
            let signal = state.withLock { $0.takeSignal(to: id, orResume: continuation) }
            if let signal { continuation.resume(returning: signal) }
        }
    }

    private func ring(at moment: PipelineClock.Instant, _ clock: PipelineClock) async {
        try? await clock.sleep(until: moment)
        guard !Task.isCancelled else { return }
        let now = clock.now
        state.withLock { $0.ring(moment, at: now) }.send()
    }

    private func leave(_ id: Int, _ reason: PermitRefusal.Reason, _ clock: PipelineClock) {
        let now = clock.now
        state.withLock { $0.leave(id, reason, at: now) }.send()
    }
}

/// What wakes a call that waits in a ``PermitQueue``.
enum PermitSignal: Sendable, Hashable {
    case admitted(at: PipelineClock.Instant)
    case refused(PermitRefusal)
    /// The task has to wake the queue at the moment of its alarm, which has changed.
    case alarm
}

/// The reason why a ``PermitQueue`` gave a call no permit.
struct PermitRefusal: Error, Sendable, Hashable {
    enum Reason: Sendable, Hashable {
        /// The queue is full, or a call with a higher priority took the place of this one.
        case full
        /// The deadline has passed, or would pass before a permit is there.
        case tooLate
        /// The cost exceeds what the meter ever hands out.
        case tooCostly
        /// The call would have to wait, but must not.
        case mustNotWait
        /// The waiting task was cancelled.
        case cancelled
        /// The store of the permits is unavailable.
        case unavailable
        /// The circuit that has let the call pass has opened in the meantime.
        case circuitOpen
    }

    let reason: Reason
    /// The time until the next permits, if it is known.
    var wait: Duration?
}
