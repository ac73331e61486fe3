extension PipelineBody {
    /// The same body, which has to be read to its end by a moment.
    ///
    /// Only a stream is timed: bytes and files are there already. When the moment comes while somebody waits for the next piece, or
    /// when a piece is asked for after it, the exchange behind the body is closed.
    ///
    /// - Parameters:
    ///   - deadline: when the last piece has to have been read.
    ///   - clock: what the deadline is measured on.
    ///   - timeout: what the reader is thrown.
    /// - Returns: a body of the same length, replayable if this is.
    public func timed(
        until deadline: PipelineClock.Instant,
        on clock: PipelineClock,
        throwing timeout: @autoclosure @escaping @Sendable () -> PipelineError
    ) -> PipelineBody {
        timed(TimedReader.Limit(clock: clock, makeDeadline: { deadline }, makeError: timeout))
    }

    /// The same body, each piece of which has to come within a time of being waited for.
    func timed(idle: Duration, on clock: PipelineClock) -> PipelineBody {
        timed(
            TimedReader.Limit(
                clock: clock,
                makeDeadline: { clock.now.advanced(by: idle) },
                makeError: { PipelineError(.timeout(.idle), "no byte of the body came for \(idle)") }
            )
        )
    }

    /// The same body, which has to be read to its end before the time of its attempt is up.
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
