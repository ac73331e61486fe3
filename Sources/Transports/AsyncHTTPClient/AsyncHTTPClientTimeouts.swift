#if AsyncHTTPClient
import PipelineCore
import Synchronization

/// The limits on how long an exchange waits for the network.
///
/// It cancels work if the server accepts or sends nothing for too long.
///
/// AsyncHTTPClient's own timers cannot do this. Its read timer also runs while the reader of a body pauses; its write
/// timer runs only while the network accepts everything.
final class AsyncHTTPClientTimeouts: Sendable {
    private struct State {
        /// When a piece of the request's body must have been accepted.
        var writing: PipelineClock.Instant?
        /// When the next part of the response must have arrived.
        var reading: (deadline: PipelineClock.Instant, isHead: Bool)?
        /// Whether the response has begun.
        var hasHead = false
        /// Whether the response has ended the upload; the piece in progress is then never accepted.
        var hasEndedUpload = false
        var isWorking = false
        /// The reason why the work was cancelled.
        var timeout: PipelineError?
    }

    private let timer: AsyncHTTPClientTimer
    private let head: Duration?
    private let idle: Duration?
    private let write: Duration?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - timer: checks the waits; its timeouts include these.
    ///   - head: the longest wait for the header fields after a body in pieces has been sent.
    ///   - idle: the longest wait for the next bytes of the response's body.
    ///   - write: the longest wait for a piece of the request's body to be accepted.
    init(_ timer: AsyncHTTPClientTimer, head: Duration?, idle: Duration?, write: Duration?) {
        self.timer = timer
        self.head = head
        self.idle = idle
        self.write = write
    }

    // MARK: What is waited for

    /// Notes that a piece of the request's body is being produced, which is not limited.
    func isMakingPiece() {
        state.withLock { state in
            state.writing = nil
            guard let reading = state.reading else { return }
            state.reading = reading.isHead ? nil : idle.map { (Self.now.advanced(by: $0), false) }
        }
    }

    /// Notes that the network must accept a piece.
    func isWriting() {
        guard let write else { return }
        state.withLock { state in
            if !state.hasEndedUpload { state.writing = Self.now.advanced(by: write) }
        }
    }

    /// Notes that the body has been sent.
    func isWaitingForHead() {
        state.withLock { state in
            state.writing = nil
            guard let head, state.reading == nil, !state.hasHead else { return }
            state.reading = (Self.now.advanced(by: head), true)
        }
    }

    /// Starts the wait for bytes of the response's body.
    func isWaitingForBytes() {
        guard let idle else { return }
        state.withLock { $0.reading = (Self.now.advanced(by: idle), false) }
    }

    /// Notes that the response has begun.
    func headHasCome(endsUpload: Bool) {
        state.withLock { state in
            state.hasHead = true
            state.reading = nil
            if endsUpload { (state.hasEndedUpload, state.writing) = (true, nil) }
        }
    }

    // MARK: Waiting

    /// Runs the work, and cancels it if the network is too slow.
    ///
    /// The work runs in its own task, so that it can be cancelled without its caller.
    func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard head != nil || idle != nil || write != nil else { return try await work() }
        state.withLock { state in
            state.isWorking = true
            state.timeout = nil
            // While the body is not read, the server may have good reason to accept nothing.
            if let write, state.writing != nil { state.writing = Self.now.advanced(by: write) }
        }
        let task = begin(work)
        let wait = state.withLock(\.isWorking) ? timer.add(self) { task.cancel() } : nil
        defer { wait.map(timer.remove) }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch {
            throw state.withLock(\.timeout) ?? error
        }
    }

    /// Starts the work at once where the platform allows, so that work that need not wait needs no other thread.
    private func begin<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) -> Task<Value, any Error> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            return Task.immediate { try await self.measure(work) }
        }
        return Task { try await self.measure(work) }
    }

    private func measure<Value: Sendable>(_ work: @Sendable () async throws -> Value) async throws -> Value {
        defer { state.withLock { ($0.isWorking, $0.reading) = (false, nil) } }
        return try await work()
    }

    /// Returns when the current wait expires, or `nil` if there is none.
    ///
    /// If it has expired, records the reason.
    func nextDeadline(at now: PipelineClock.Instant) -> PipelineClock.Instant? {
        state.withLock { state in
            guard let deadline = [state.writing, state.reading?.deadline].compactMap(\.self).min() else { return nil }
            if deadline <= now, state.isWorking {
                let isHead = state.reading?.isHead ?? false
                state.timeout =
                    state.writing == deadline ? Self.writeTimeout : isHead ? Self.headTimeout : Self.idleTimeout
            }
            return deadline
        }
    }

    private static var now: PipelineClock.Instant { AsyncHTTPClientTimer.clock.now }

    private static let writeTimeout = PipelineError(.timeout(.write), "the server took no byte of the body in time")
    private static let headTimeout = PipelineError(
        .timeout(.head),
        "the header fields of the response did not arrive in time"
    )
    private static let idleTimeout = PipelineError(.timeout(.idle), "no byte of the body came in time")
}
#endif
