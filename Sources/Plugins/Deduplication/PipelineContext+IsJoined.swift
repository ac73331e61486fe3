public import Pipeline

extension PipelineContext {
    /// Whether an attempt of the call ended in the result of another call's exchange, set by `DeduplicationPlugin`.
    public var isJoined: Bool { sharing.isJoined }
}
