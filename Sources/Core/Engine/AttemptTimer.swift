import Synchronization

/// The timer of one attempt, which is stopped while the exchange waits for a connection.
final class AttemptTimer: Sendable {
    private struct State {
        /// `nil` while the exchange waits for a connection.
        var deadline: PipelineClock.Instant?
        var hasConnection = false
    }

    let timeout: Duration
    private let state: Mutex<State>

    init(_ timeout: Duration, from start: PipelineClock.Instant) {
        self.timeout = timeout
        state = Mutex(State(deadline: start.advanced(by: timeout)))
    }

    /// The error of an attempt that has timed out.
    var timeoutError: PipelineError {
        PipelineError(.timeout(.attempt), "the attempt took longer than \(timeout.text)")
    }

    /// Stops the timer, unless the exchange has had a connection.
    func connectionIsAwaited() {
        state.withLock { state in
            if !state.hasConnection { state.deadline = nil }
        }
    }

    /// Restarts the timer, unless the exchange has had a connection.
    func connectionIsThere(at now: PipelineClock.Instant) {
        state.withLock { state in
            guard !state.hasConnection else { return }
            state.hasConnection = true
            state.deadline = now.advanced(by: timeout)
        }
    }

    /// Starts the timer if it is still stopped, because a response has arrived.
    func responseIsThere(at now: PipelineClock.Instant) {
        state.withLock { state in
            if state.deadline == nil { state.deadline = now.advanced(by: timeout) }
        }
    }

    /// Returns the earliest moment at which the attempt can time out; `nil` if it has timed out.
    func nextLook(at now: PipelineClock.Instant) -> PipelineClock.Instant? {
        state.withLock { state in
            guard let deadline = state.deadline else { return now.advanced(by: timeout) }
            return deadline > now ? deadline : nil
        }
    }
}
