import Pipeline

extension PipelineContext {
    /// The moment until which a request may wait for permits; `nil` if that is not limited.
    ///
    /// A shared exchange has the deadline of the call that leads it, but other calls may have more time. When the time
    /// of the last has passed, the exchange is cancelled.
    var waitDeadline: PipelineClock.Instant? {
        deadline.flatMap { InflightExchanges.isInside ? nil : $0 }
    }
}
