public import Pipeline

private enum IsJoined: PipelineContextKey {
    static let defaultValue = false
}

extension PipelineContext {
    /// Whether an attempt of the call has waited for the exchange of another call and has its answer, set by `DeduplicationPlugin`.
    public var isJoined: Bool { self[IsJoined.self] }

    func setJoined() {
        self[IsJoined.self] = true
    }
}
