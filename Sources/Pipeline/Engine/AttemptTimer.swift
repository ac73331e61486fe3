import Synchronization

/// The time of one attempt, which stands still while the exchange waits for a connection.
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

    /// What ends an attempt whose time is up.
    var timeoutError: PipelineError {
        PipelineError(.timeout(.attempt), "the attempt took longer than \(timeout)")
    }

    /// Stops the time, unless there has been a connection.
    func connectionIsAwaited() {
        state.withLock { state in
            if !state.hasConnection { state.deadline = nil }
        }
    }

    /// Starts the time anew; does nothing when there has been a connection.
    func connectionIsThere(at now: PipelineClock.Instant) {
        state.withLock { state in
            guard !state.hasConnection else { return }
            state.hasConnection = true
            state.deadline = now.advanced(by: timeout)
        }
    }

    /// Starts the time if it still stands, since a response has come.
    func responseIsThere(at now: PipelineClock.Instant) {
        state.withLock { state in
            if state.deadline == nil { state.deadline = now.advanced(by: timeout) }
        }
    }

    /// The moment before which the time cannot be up, `nil` when it is up.
    func nextLook(at now: PipelineClock.Instant) -> PipelineClock.Instant? {
        state.withLock { state in
            guard let deadline = state.deadline else { return now.advanced(by: timeout) }
            return deadline > now ? deadline : nil
        }
    }
}
