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
        timed(TimedReader.Limit(clock: clock, makeDeadline: { deadline }, makeError: timeout))
    }

    /// Returns the same body with a limit on the wait for each piece.
    func timed(idle: Duration, on clock: PipelineClock) -> PipelineBody {
        timed(
            TimedReader.Limit(
                clock: clock,
                makeDeadline: { clock.now.advanced(by: idle) },
                makeError: { PipelineError(.timeout(.idle), "no byte of the body arrived for \(idle.text)") }
            )
        )
    }

    /// Returns the same body, which must be read to its end before its attempt times out.
    func timed(by timer: AttemptTimer, on clock: PipelineClock) -> PipelineBody {
        timed(
            TimedReader.Limit(
                clock: clock,
                makeDeadline: { timer.nextLook(at: clock.now) ?? clock.now },
                makeError: { timer.timeoutError }
            )
        )
    }

    private func timed(_ limit: TimedReader.Limit) -> PipelineBody {
        guard bytes == nil, fileURL == nil else { return self }
        return read { TimedReader(self, limit) }
    }
}
