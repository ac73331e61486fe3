import Foundation

/// Reads a body with a limit on the wait for each piece, in a task next to the one that measures the time.
private actor TimedReader: ChunkReader {
    private var upstream: PipelineBody.Chunks.AsyncIterator?
    private let clock: PipelineClock
    /// Returns the deadline; called when the wait begins.
    private let makeDeadline: @Sendable () -> PipelineClock.Instant
    private let makeError: @Sendable () -> PipelineError
    private var failure: (any Error)?

    init(
        _ body: PipelineBody,
        on clock: PipelineClock,
        until makeDeadline: @escaping @Sendable () -> PipelineClock.Instant,
        throwing makeError: @escaping @Sendable () -> PipelineError
    ) {
        upstream = body.chunks().makeAsyncIterator()
        self.clock = clock
        self.makeDeadline = makeDeadline
        self.makeError = makeError
    }

    func next() async throws -> Data? {
        if let failure { throw failure }
        do {
            return try await clock.run(until: makeDeadline(), throwing: makeError()) {
                try await self.read()
            }
        } catch {
            // Closes the exchange even if the reader is kept; later reads fail as well, so the body never looks
            // complete.
            failure = error
            upstream = nil
            throw error
        }
    }

    private func read() async throws -> Data? {
        guard var iterator = upstream else { return nil }
        let chunk = try await iterator.next()
        if chunk == nil { try Task.checkCancellation() }
        upstream = iterator
        return chunk
    }
}

extension PipelineBody {
    /// Returns the same body with a deadline by which it must be read to its end.
    ///
    /// Only a stream is timed; bytes and files are already available. If the deadline passes while a reader waits for
    /// the next piece, or if a piece is requested after it, the read fails and the exchange is closed.
    ///
    /// - Parameters:
    ///   - deadline: the moment by which the last piece must have been read.
    ///   - clock: the clock that measures the deadline.
    ///   - timeout: the error that the reader receives.
    /// - Returns: a body of the same length, replayable if this one is.
    public func timed(
        until deadline: PipelineClock.Instant,
        on clock: PipelineClock,
        throwing timeout: @autoclosure @escaping @Sendable () -> PipelineError
    ) -> PipelineBody {
        timed(on: clock, until: { deadline }, throwing: timeout)
    }

    /// Returns the same body with a limit on the wait for each piece.
    func timed(idle: Duration, on clock: PipelineClock) -> PipelineBody {
        timed(
            on: clock,
            until: { clock.now.advanced(by: idle) },
            throwing: { PipelineError(.timeout(.idle), "no byte of the body arrived for \(idle.text)") }
        )
    }

    /// Returns the same body, which must be read to its end before its attempt times out.
    func timed(by timer: AttemptTimer, on clock: PipelineClock) -> PipelineBody {
        timed(
            on: clock,
            until: { timer.nextLook(at: clock.now) ?? clock.now },
            throwing: { timer.timeoutError }
        )
    }

    private func timed(
        on clock: PipelineClock,
        until makeDeadline: @escaping @Sendable () -> PipelineClock.Instant,
        throwing makeError: @escaping @Sendable () -> PipelineError
    ) -> PipelineBody {
        guard bytes == nil, fileURL == nil else { return self }
        return read { TimedReader(self, on: clock, until: makeDeadline, throwing: makeError) }
    }
}
