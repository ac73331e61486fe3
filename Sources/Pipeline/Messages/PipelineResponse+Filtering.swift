extension PipelineResponse {
    /// Returns the response if its status is one of those accepted.
    ///
    /// ```swift
    /// let book = try response.filter(.successCodes).map(Book.self)
    /// ```
    ///
    /// - Parameter accepted: the statuses, as for ``TargetType/validationType``.
    /// - Returns: the response itself.
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/unacceptableStatus`` and the response.
    @discardableResult
    public func filter(_ accepted: ValidationType) throws -> PipelineResponse {
        guard accepted.accepts(statusCode) else {
            throw PipelineError(
                .unacceptableStatus,
                "the status \(statusCode) is not one of those asked for: \(accepted)",
                response: self
            )
        }
        return self
    }
}
