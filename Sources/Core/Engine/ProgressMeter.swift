import Synchronization

/// Counts the bytes of a call and reports each step, in order.
package final class ProgressMeter: Sendable {
    /// The greatest progress that is reported before the end.
    package static let greatestBeforeEnd = 0.999

    private struct State {
        var progress = 0.0
        var sent = ProgressResponse.Transfer()
        var received = ProgressResponse.Transfer()
        var rate = TransferRate()
        var isUpload = false
        var isEnded = false

        /// The body that progress measures.
        var transfer: ProgressResponse.Transfer { isUpload ? sent : received }

        func step(_ progress: Double, _ response: PipelineResponse? = nil) -> ProgressResponse {
            ProgressResponse(
                progress: progress,
                sent: sent,
                received: received,
                transfer: transfer,
                bytesPerSecond: rate.bytesPerSecond,
                response: response
            )
        }
    }

    private let state = Mutex(State())
    private let report: @Sendable (ProgressResponse) -> Void

    /// - Parameter report: forwards each step. It runs under the meter's lock, so that steps keep their order, and must
    ///   do nothing else.
    package init(report: @escaping @Sendable (ProgressResponse) -> Void) {
        self.report = report
    }

    /// Restarts the counts for a new exchange; progress does not go back.
    ///
    /// - Parameters:
    ///   - bodyByteCount: the length of the body to send; `nil` if it is not known.
    ///   - isUpload: whether progress measures what is sent.
    func beginExchange(bodyByteCount: Int?, isUpload: Bool) {
        state.withLock { state in
            state.isUpload = isUpload
            state.rate = TransferRate()
            state.sent = .init(totalByteCount: bodyByteCount)
            state.received = .init()
        }
    }

    func sent(_ byteCount: Int, at now: PipelineClock.Instant) {
        step(\.sent, at: now) { $0.byteCount = max($0.byteCount, byteCount) }
    }

    func received(_ byteCount: Int, of totalByteCount: Int?, at now: PipelineClock.Instant) {
        step(\.received, at: now) { transfer in
            transfer.byteCount = byteCount
            transfer.totalByteCount = totalByteCount
        }
    }

    /// Returns the last step of a call that has succeeded.
    func end(with response: PipelineResponse) -> ProgressResponse {
        let state = state.withLock { state in
            // A transport may report late, but no step follows the last one.
            state.isEnded = true
            return state
        }
        return state.step(1, response)
    }

    private func step(
        _ transfer: WritableKeyPath<State, ProgressResponse.Transfer>,
        at now: PipelineClock.Instant,
        _ change: (inout ProgressResponse.Transfer) -> Void
    ) {
        state.withLock { state in
            guard !state.isEnded else { return }
            let before = state[keyPath: transfer]
            change(&state[keyPath: transfer])
            guard state[keyPath: transfer] != before else { return }
            let measured: WritableKeyPath<State, ProgressResponse.Transfer> = state.isUpload ? \.sent : \.received
            if transfer == measured {
                state.rate.add(state[keyPath: transfer].byteCount, at: now)
                // 1 is reserved for the end: the call may still fail after all bytes have passed.
                state.progress = max(state.progress, min(state[keyPath: transfer].fraction, Self.greatestBeforeEnd))
            }
            report(state.step(state.progress))
        }
    }
}
