import HTTPTypes

extension PipelineRequest {
    /// Throws an error if the method is GET, HEAD or TRACE, because these requests have no body.
    ///
    /// Call it from ``RequestContent`` that always writes a body.
    ///
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/invalidRequest(_:)`` and `body`.
    ///
    /// Source: RFC 9110 §9.3, https://www.rfc-editor.org/rfc/rfc9110.html#section-9.3
    public func requireBodyCarryingMethod() throws {
        guard method == .get || method == .head || method == .trace else { return }
        throw PipelineError(.invalidRequest(.body), "a \(method) carries no body: name a method that does, as .post")
    }
}
