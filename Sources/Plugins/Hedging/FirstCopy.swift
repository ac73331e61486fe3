import Pipeline

/// Whether a copy of a request has reached the wire.
enum FirstCopy: PipelineContextKey {
    /// Where the first copy is.
    enum State: Sendable {
        /// The call is not hedged.
        case unwatched
        /// No copy has been sent; the first may wait for a permit.
        case waiting
        /// The same, and the stream ends when a copy is sent.
        case awaited(AsyncStream<Never>.Continuation)
        /// A copy has been sent, by this call or by the one whose exchange it has joined.
        case sent
    }

    static let defaultValue = State.unwatched
}

extension PipelineContext {
    /// Whether a copy of the request has been sent.
    var hasSentCopy: Bool {
        if case .sent = self[FirstCopy.self] { true } else { false }
    }

    /// Notes that a copy of the request has been sent, if the call is hedged.
    func noteSentCopy() {
        switch self[FirstCopy.self] {
        case .unwatched, .sent: return
        case .waiting, .awaited: break
        }
        let signal = update(FirstCopy.self) { state -> AsyncStream<Never>.Continuation? in
            defer { state = .sent }
            guard case .awaited(let signal) = state else { return nil }
            return signal
        }
        signal?.finish()
    }

    /// Returns when a copy of the request has been sent or the task is cancelled.
    func waitForSentCopy() async {
        let (sent, signal) = AsyncStream<Never>.makeStream()
        let isWaiting = update(FirstCopy.self) { state in
            guard case .waiting = state else { return false }
            state = .awaited(signal)
            return true
        }
        guard isWaiting else { return }
        for await _ in sent {}
    }
}
