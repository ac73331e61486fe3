public import Pipeline

private enum RequestID: PipelineContextKey {
    static let defaultValue: String? = nil
}

extension PipelineContext {
    /// The id that ``RequestIDPlugin`` has sent with the call, `nil` before it has and without it.
    public internal(set) var requestID: String? {
        get { self[RequestID.self] }
        nonmutating set { update(RequestID.self) { $0 = newValue } }
    }
}
