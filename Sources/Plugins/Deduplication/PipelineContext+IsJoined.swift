public import Pipeline

private enum IsJoined: PipelineContextKey {
    static let defaultValue = false
}

extension PipelineContext {
    /// Whether an attempt of the call ended in the result of another call's exchange, set by `DeduplicationPlugin`.
    public var isJoined: Bool { self[IsJoined.self] }

    func noteJoin() {
        update(IsJoined.self) { $0 = true }
    }
}
