import Synchronization

/// Counts the bytes of a call and reports each step, in order.
package final class ProgressMeter: Sendable {
    /// What is told at most before the end.
    package static let greatestBeforeEnd = 0.999

    private struct State {
        var progress = 0.0
        var sent = ProgressResponse.Transfer()
        var received = ProgressResponse.Transfer()
        var isEnded = false
    }

    private let state = Mutex(State())
    private let report: @Sendable (ProgressResponse) -> Void

    /// - Parameter report: only hands on; it runs under the meter's lock, so that steps keep their order.
    package init(report: @escaping @Sendable (ProgressResponse) -> Void) {
        self.report = report
    }

    /// A new exchange counts from nothing; progress stays where it is.
    func beginExchange(bodyByteCount: Int?) {
        state.withLock { state in
            state.sent = .init(totalByteCount: bodyByteCount)
            state.received = .init()
        }
    }

    func sent(_ byteCount: Int, isProgress: Bool) {
        step(isProgress: isProgress, \.sent) { $0.byteCount = max($0.byteCount, byteCount) }
    }

    func received(_ byteCount: Int, of totalByteCount: Int?, isProgress: Bool) {
        step(isProgress: isProgress, \.received) { transfer in
            transfer.byteCount = byteCount
            transfer.totalByteCount = totalByteCount
        }
    }

    /// The last step of a call that has succeeded.
    func end(with response: PipelineResponse) -> ProgressResponse {
        let state = state.withLock { state in
            // A transport may report late; after the last step there is none.
            state.isEnded = true
            return state
        }
        return ProgressResponse(progress: 1, sent: state.sent, received: state.received, response: response)
    }

    private func step(
        isProgress: Bool,
        _ transfer: WritableKeyPath<State, ProgressResponse.Transfer>,
        _ change: (inout ProgressResponse.Transfer) -> Void
    ) {
        state.withLock { state in
            guard !state.isEnded else { return }
            let before = state[keyPath: transfer]
            change(&state[keyPath: transfer])
            guard state[keyPath: transfer] != before else { return }
            if isProgress {
                // 1 is for the end alone: all bytes may have passed and the call still fail.
                state.progress = max(state.progress, min(state[keyPath: transfer].fraction, Self.greatestBeforeEnd))
            }
            report(ProgressResponse(progress: state.progress, sent: state.sent, received: state.received))
        }
    }
}
