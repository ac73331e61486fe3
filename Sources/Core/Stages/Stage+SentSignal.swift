import Synchronization

extension Stage {
    /// Whether a request of a call has been sent, for a plugin that measures how long a response takes.
    ///
    /// A plugin that sends copies of a slow request sets it in ``PipelineContext/sentSignal``, so that the time that a
    /// request waits for a permit further inside does not count. It notes each ``Stage/WillSend``; a plugin that lets
    /// calls join the exchange of another call notes it when a call has joined.
    public final class SentSignal: Sendable {
        private enum State {
            case unsent([AsyncStream<Never>.Continuation])
            case sent
        }

        private let state = Mutex(State.unsent([]))

        /// Creates a signal of a call that has sent nothing yet.
        public init() {}

        /// Whether a request has been sent, by this call or by one whose exchange it has joined.
        public var isSent: Bool {
            state.withLock { if case .sent = $0 { true } else { false } }
        }

        /// Notes that a request has been sent.
        public func note() {
            let waiting = state.withLock { state -> [AsyncStream<Never>.Continuation] in
                guard case .unsent(let waiting) = state else { return [] }
                state = .sent
                return waiting
            }
            for one in waiting { one.finish() }
        }

        /// Returns when a request has been sent or the task is cancelled.
        public func wait() async {
            let (sent, continuation) = AsyncStream<Never>.makeStream()
            let isWaiting = state.withLock { state in
                guard case .unsent(let waiting) = state else { return false }
                state = .unsent(waiting + [continuation])
                return true
            }
            guard isWaiting else { return }
            for await _ in sent {}
        }
    }
}

extension PipelineContext {
    private enum Sent: PipelineContext.Key { static let defaultValue: Stage.SentSignal? = nil }

    /// The signal of a plugin that waits until a request is sent; `nil` if none does.
    public var sentSignal: Stage.SentSignal? {
        get { self[Sent.self] }
        nonmutating set { update(Sent.self) { $0 = newValue } }
    }
}
