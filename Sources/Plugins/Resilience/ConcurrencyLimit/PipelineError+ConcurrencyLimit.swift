public import PipelineCore

extension PipelineError.Code.Limit {
    /// The number of calls that wait for a permit of ``ConcurrencyLimitPlugin``.
    public static let concurrency = Self(rawValue: "concurrency")
}

extension PipelineError.Code.TimeoutPhase {
    /// The wait for a permit of a plugin that limits calls; nothing was sent.
    public static let queue = Self(rawValue: "queue")
}
