extension PipelineResponse {
    /// Returns the response if its status is in a range.
    ///
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/unacceptableStatus`` and the response.
    @discardableResult
    public func filter(statusCodes: some RangeExpression<Int>) throws -> PipelineResponse {
        guard statusCodes.contains(statusCode) else {
            throw PipelineError(
                .unacceptableStatus,
                "the status \(statusCode) is not one of those asked for",
                response: self
            )
        }
        return self
    }

    /// Returns the response if it has this status.
    ///
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/unacceptableStatus`` and the response.
    @discardableResult
    public func filter(statusCode: Int) throws -> PipelineResponse {
        try filter(statusCodes: statusCode...statusCode)
    }

    /// Returns the response if its status is 200 to 299.
    ///
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/unacceptableStatus`` and the response.
    @discardableResult
    public func filterSuccessfulStatusCodes() throws -> PipelineResponse {
        try filter(statusCodes: 200...299)
    }

    /// Returns the response if its status is 200 to 399.
    ///
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/unacceptableStatus`` and the response.
    @discardableResult
    public func filterSuccessfulStatusAndRedirectCodes() throws -> PipelineResponse {
        try filter(statusCodes: 200...399)
    }
}
