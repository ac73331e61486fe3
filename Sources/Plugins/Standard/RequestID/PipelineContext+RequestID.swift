public import PipelineCore

private enum RequestID: PipelineContext.Key {
    static let defaultValue: String? = nil
}

extension PipelineContext {
    /// The id that ``RequestIDPlugin`` sends with the call; `nil` before the plugin has run and without the plugin.
    public internal(set) var requestID: String? {
        get { self[RequestID.self] }
        nonmutating set { update(RequestID.self) { $0 = newValue } }
    }
}
