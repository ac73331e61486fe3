import PipelineCore
import Synchronization

/// The place where one task waits at a ``Turnstile``.
final class TurnstileSeat: Sendable {
    enum Signal: Sendable, Hashable {
        case admitted(at: PipelineClock.Instant)
        case refused(TurnstileRefusal)
        /// The task has to wake the turnstile at the moment of its alarm, which has changed.
        case alarm

        fileprivate var isFinal: Bool { self != .alarm }
    }

    private struct State {
        var pending: Signal?
        var continuation: CheckedContinuation<Signal, Never>?
    }

    private let state = Mutex(State())

    /// Passes a signal to the task; a final one replaces an alarm that the task has not seen.
    func send(_ signal: Signal) {
        let continuation = state.withLock { state -> CheckedContinuation<Signal, Never>? in
            if let continuation = state.continuation {
                state.continuation = nil
                return continuation
            }
            if state.pending?.isFinal != true { state.pending = signal }
            return nil
        }
        continuation?.resume(returning: signal)
    }

    /// Waits for the next signal; only one task at a time may wait.
    func next() async -> Signal {
        await withCheckedContinuation { continuation in
            let signal = state.withLock { state -> Signal? in
                if let pending = state.pending {
                    state.pending = nil
                    return pending
                }
                state.continuation = continuation
                return nil
            }
            if let signal { continuation.resume(returning: signal) }
        }
    }
}
