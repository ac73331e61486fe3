import HTTPTypes

extension PipelineRequest {
    /// Refuses a body with a method whose requests have none: GET, HEAD and TRACE.
    ///
    /// Source: RFC 9110 §9.3, https://www.rfc-editor.org/rfc/rfc9110.html#section-9.3
    func requireBodyCarryingMethod() throws {
        guard method == .get || method == .head || method == .trace else { return }
        throw PipelineError(.invalidRequest(.body), "a \(method) carries no body: name a method that does, as .post")
    }
}
