public import Pipeline

private enum JoinCount: PipelineContextKey {
    static let defaultValue = 0
}

extension PipelineContext {
    /// Whether an attempt of the call has waited for the exchange of another call and has its answer, set by `DeduplicationPlugin`.
    public var isJoined: Bool { joinCount > 0 }

    /// How many attempts of the call have.
    var joinCount: Int { self[JoinCount.self] }

    func addJoin() {
        update(JoinCount.self) { $0 += 1 }
    }
}
