import Pipeline

extension PipelineContext {
    /// The moment until which a request may wait, and be of use; `nil` if that is not limited.
    ///
    /// A shared exchange has the latest deadline of the calls that share it; one that joins may change it.
    var waitDeadline: PipelineClock.Instant? {
        switch InflightExchanges.scope {
        case .limited(let shared): shared.latest
        case .unlimited: nil
        case nil: deadline
        }
    }
}
