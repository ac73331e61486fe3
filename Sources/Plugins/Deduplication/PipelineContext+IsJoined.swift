public import Pipeline

extension PipelineContext {
    /// Whether an attempt of the call ended with the result of another call's exchange.
    ///
    /// `DeduplicationPlugin` sets it.
    public var isJoined: Bool { sharing.isJoined }
}
