import PipelineCore
import Synchronization

/// A gate through which calls pass once a meter has permits for them; the others wait in line.
///
/// It starts no tasks of its own. One of the waiting calls, the driver, sleeps until the next permits or the earliest
/// deadline, and then serves the line for all. When the driver leaves, another call takes over.
final class Turnstile<Meter: TrafficMeter>: PartitionObject {
    private let state: Mutex<TurnstileState<Meter>>

    /// Makes a turnstile with an empty line.
    ///
    /// - Parameters:
    ///   - meter: the rule by which permits are handed out.
    ///   - maximumWaitingCount: the maximum number of waiting calls, 0 and up.
    init(_ meter: Meter, maximumWaitingCount: Int) {
        state = Mutex(TurnstileState(meter: meter, line: WaitingLine(maximumCount: maximumWaitingCount)))
    }

    /// Whether no call waits and the meter is idle.
    func isIdle(at now: PipelineClock.Instant) -> Bool { state.withLock { $0.isIdle(at: now) } }

    /// The number of waiting calls.
    var waitingCount: Int { state.withLock { $0.line.count } }

    /// Returns what a closure makes of the meter and the number of waiting calls.
    func read<Output: Sendable>(_ body: (Meter, Int) -> Output) -> Output {
        state.withLock { body($0.meter, $0.line.count) }
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
    ///   - priority: the priority in the line.
    ///   - deadline: returns the moment by which the work of the call must have ended; called again when that has come,
    ///     because a call that joins may have more time.
    ///   - maximumWait: the longest wait, more than zero.
    ///   - clock: the clock of the call; calls that share a turnstile must have comparable clocks.
    ///   - mayWait: whether the call may wait.
    /// - Returns: how long the call waited.
    /// - Throws: the reason why the call has no permits; `circuitOpen` once the circuit opens that has let it pass.
    func enter(
        _ cost: Int = 1,
        _ priority: TrafficPriority = .normal,
        before deadline: @escaping @Sendable () -> PipelineClock.Instant? = { nil },
        within maximumWait: Duration? = nil,
        on clock: PipelineClock,
        mayWait: Bool = true
    ) async throws(TurnstileRefusal) -> Duration {
        let start = clock.now
        let (arrival, signals) = state.withLock {
            $0.arrive(cost, priority, before: deadline, within: mayWait ? maximumWait : .zero, at: start)
        }
        signals.send()
        switch arrival {
        case .admitted: return .zero
        case .refused(let refusal): throw refusal
        case .waits(let id, let seat):
            let watch = CircuitPass.current?.watch { [weak self] in self?.leave(id, .circuitOpen, clock) }
            defer { watch?.end() }
            let signal = await withTaskCancellationHandler {
                await ending(of: id, on: seat, clock)
            } onCancel: {
                leave(id, .cancelled, clock)
            }
            switch signal {
            case .admitted(let moment): return max(.zero, start.duration(to: moment))
            case .refused(let refusal): throw refusal
            case .alarm: throw TurnstileRefusal(reason: .cancelled)
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

    /// Waits until the call is admitted or refused, and drives the line if it is asked to.
    private func ending(of id: Int, on seat: TurnstileSeat, _ clock: PipelineClock) async -> TurnstileSeat.Signal {
        var signal = await seat.next()
        while signal == .alarm {
            // A final signal follows if the call drives the line no longer.
            guard let moment = state.withLock({ $0.alarm(of: id) }) else {
                signal = await seat.next()
                continue
            }
            signal = await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.ring(at: moment, clock) }
                let signal = await seat.next()
                group.cancelAll()
                return signal
            }
        }
        return signal
    }

    private func ring(at moment: PipelineClock.Instant, _ clock: PipelineClock) async {
        try? await clock.sleep(until: moment)
        guard !Task.isCancelled else { return }
        let now = clock.now
        state.withLock { $0.ring(moment, at: now) }.send()
    }

    private func leave(_ id: Int, _ reason: TurnstileRefusal.Reason, _ clock: PipelineClock) {
        let now = clock.now
        state.withLock { $0.leave(id, reason, at: now) }.send()
    }
}
