#if AsyncHTTPClient
import Pipeline
import Synchronization

/// How long an exchange waits for the network: ends work during which the server takes nothing, or gives nothing, for too long.
///
/// AsyncHTTPClient's own timers cannot say so: the one for reading also runs while the reader of a body pauses, the one for writing
/// only while the network takes everything.
final class AsyncHTTPClientWatch: Sendable {
    private struct State {
        /// Since when a piece of the request's body has been waiting to be taken.
        var writing: PipelineClock.Instant?
        /// Since when something of the answer is waited for.
        var reading: (since: PipelineClock.Instant, isHead: Bool)?
        /// Whether the answer has begun.
        var hasHead = false
        /// Whether the answer has ended the sending; the piece that was under way then is never taken.
        var hasEndedUpload = false
        var isWorking = false
        /// Why the work was cancelled.
        var timeout: PipelineError?
    }

    private typealias Timekeeper = AsyncHTTPClientTimekeeper

    private let timekeeper: AsyncHTTPClientTimekeeper
    private let head: Duration?
    private let idle: Duration?
    private let write: Duration?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - timekeeper: knows the times, too.
    ///   - head: how long the header fields may take once a body in pieces has been sent.
    ///   - idle: how long the next bytes of the answer's body may take.
    ///   - write: how long a piece of the request's body may take.
    init(_ timekeeper: AsyncHTTPClientTimekeeper, head: Duration?, idle: Duration?, write: Duration?) {
        self.timekeeper = timekeeper
        self.head = head
        self.idle = idle
        self.write = write
    }

    // MARK: What is waited for

    /// A piece of the body to send is being made; that takes as long as it takes.
    func isMakingPiece() {
        state.withLock { state in
            state.writing = nil
            guard let reading = state.reading else { return }
            state.reading = reading.isHead ? nil : (Timekeeper.clock.now, false)
        }
    }

    /// The network is to take a piece.
    func isWriting() {
        guard write != nil else { return }
        state.withLock { state in
            if !state.hasEndedUpload { state.writing = Timekeeper.clock.now }
        }
    }

    /// The body has been sent.
    func isWaitingForHead() {
        state.withLock { state in
            state.writing = nil
            if state.reading == nil, !state.hasHead { state.reading = (Timekeeper.clock.now, true) }
        }
    }

    /// Bytes of the answer's body are waited for, from now.
    func isWaitingForBytes() {
        guard idle != nil else { return }
        state.withLock { $0.reading = (Timekeeper.clock.now, false) }
    }

    /// The answer has begun.
    func headHasCome(endsUpload: Bool) {
        state.withLock { state in
            state.hasHead = true
            state.reading = nil
            if endsUpload { (state.hasEndedUpload, state.writing) = (true, nil) }
        }
    }

    // MARK: Waiting

    /// Does the work, and cancels it when the network is too slow.
    ///
    /// The work has a task of its own, so that it can be cancelled without its caller.
    func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard head != nil || idle != nil || write != nil else { return try await work() }
        let now = Timekeeper.clock.now
        state.withLock { state in
            state.isWorking = true
            state.timeout = nil
            // While nobody reads, the server may have had good reason to take nothing.
            if state.writing != nil { state.writing = now }
        }
        let task = begin(work)
        let wait = state.withLock(\.isWorking) ? timekeeper.add(self) { task.cancel() } : nil
        defer { wait.map(timekeeper.remove) }
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

    /// Begins at once where that is known, so that work which need not wait needs no other thread.
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

    /// When the time is up of what is waited for, `nil` when nothing is; notes why, when that has come.
    func nextDeadline(at now: PipelineClock.Instant) -> PipelineClock.Instant? {
        state.withLock { state in
            var earliest: (deadline: PipelineClock.Instant, timeout: PipelineError)?
            if let writing = state.writing, let write { earliest = (writing.advanced(by: write), Self.writeTimeout) }
            if let reading = state.reading, let limit = reading.isHead ? head : idle {
                let deadline = reading.since.advanced(by: limit)
                if deadline < earliest?.deadline ?? deadline.advanced(by: .nanoseconds(1)) {
                    earliest = (deadline, reading.isHead ? Self.headTimeout : Self.idleTimeout)
                }
            }
            if let earliest, earliest.deadline <= now, state.isWorking { state.timeout = earliest.timeout }
            return earliest?.deadline
        }
    }

    private static let writeTimeout = PipelineError(.timeout(.write), "the server took no byte of the body in time")
    private static let headTimeout = PipelineError(
        .timeout(.head),
        "the header fields of the answer did not come in time"
    )
    private static let idleTimeout = PipelineError(.timeout(.idle), "no byte of the body came in time")
}
#endif
