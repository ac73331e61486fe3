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
        var isWorking = false
    }

    /// The network's time is real, whatever the clock of the provider, as it is for the timers of the client.
    private static let clock = PipelineClock(ContinuousClock())

    private let head: Duration?
    private let idle: Duration?
    private let write: Duration?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - head: how long the header fields may take once a body in pieces has been sent.
    ///   - idle: how long the next bytes of the answer's body may take.
    ///   - write: how long a piece of the request's body may take.
    init(head: Duration?, idle: Duration?, write: Duration?) {
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
            state.reading = reading.isHead ? nil : (Self.clock.now, false)
        }
    }

    /// The network is to take a piece.
    func isWriting() {
        guard write != nil else { return }
        state.withLock { $0.writing = Self.clock.now }
    }

    /// The body has been sent.
    func isWaitingForHead() {
        state.withLock { state in
            state.writing = nil
            if state.reading == nil { state.reading = (Self.clock.now, true) }
        }
    }

    /// Bytes of the answer's body are waited for, from now.
    func isWaitingForBytes() {
        guard idle != nil else { return }
        state.withLock { $0.reading = (Self.clock.now, false) }
    }

    /// The answer has begun.
    func headHasCome(endsUpload: Bool) {
        state.withLock { state in
            state.reading = nil
            if endsUpload { state.writing = nil }
        }
    }

    // MARK: Waiting

    /// Does the work, and cancels it when the network is too slow.
    ///
    /// Work that is done without waiting costs a child task that is never scheduled, and no timer.
    func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard head != nil || idle != nil || write != nil else { return try await work() }
        let now = Self.clock.now
        state.withLock { state in
            state.isWorking = true
            // While nobody reads, the server may have had good reason to take nothing.
            if state.writing != nil { state.writing = now }
        }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                group.addImmediateTask { try await self.measure(work) }
            } else {
                group.addTask { try await self.measure(work) }
            }
            if state.withLock({ $0.isWorking }) {
                group.addTask {
                    try await self.waitUntilTimeIsUp()
                    return nil
                }
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let value = first else { throw CancellationError() }
            return value
        }
    }

    private func measure<Value: Sendable>(_ work: @Sendable () async throws -> Value) async throws -> Value {
        defer { state.withLock { ($0.isWorking, $0.reading) = (false, nil) } }
        return try await work()
    }

    /// Returns never but by throwing.
    ///
    /// A wait that begins while this sleeps ends no earlier than the shortest of the times from now, which is when it looks again.
    /// A second is the most: the runtime keeps the timer of a sleep that was cancelled until its time has come.
    private func waitUntilTimeIsUp() async throws {
        let pause = [head, idle, write, .seconds(1)].compactMap { $0 }.min() ?? .seconds(1)
        while true {
            let now = Self.clock.now
            let next = now.advanced(by: pause)
            try await Self.clock.sleep(until: min(try nextDeadline(at: now) ?? next, next))
        }
    }

    private func nextDeadline(at now: PipelineClock.Instant) throws -> PipelineClock.Instant? {
        let (writing, reading) = state.withLock { ($0.writing, $0.reading) }
        var deadlines: [PipelineClock.Instant] = []
        if let writing, let write {
            deadlines.append(writing.advanced(by: write))
            if deadlines[0] <= now { throw Self.writeTimeout }
        }
        if let reading, let timeout = reading.isHead ? head : idle {
            deadlines.append(reading.since.advanced(by: timeout))
            if deadlines[deadlines.count - 1] <= now { throw reading.isHead ? Self.headTimeout : Self.idleTimeout }
        }
        return deadlines.min()
    }

    private static let writeTimeout = PipelineError(.timeout(.write), "the server took no byte of the body in time")
    private static let headTimeout = PipelineError(
        .timeout(.head),
        "the header fields of the answer did not come in time"
    )
    private static let idleTimeout = PipelineError(.timeout(.idle), "no byte of the body came in time")
}
#endif
