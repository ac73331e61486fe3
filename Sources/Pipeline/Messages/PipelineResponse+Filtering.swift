extension PipelineResponse {
    /// The response when its status is one of these.
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

    /// The response when it has this status.
    ///
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/unacceptableStatus`` and the response.
    @discardableResult
    public func filter(statusCode: Int) throws -> PipelineResponse {
        try filter(statusCodes: statusCode...statusCode)
    }

    /// The response when its status is 200 to 299.
    ///
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/unacceptableStatus`` and the response.
    @discardableResult
    public func filterSuccessfulStatusCodes() throws -> PipelineResponse {
        try filter(statusCodes: 200...299)
    }

    /// The response when its status is 200 to 399.
    ///
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/unacceptableStatus`` and the response.
    @discardableResult
    public func filterSuccessfulStatusAndRedirectCodes() throws -> PipelineResponse {
        try filter(statusCodes: 200...399)
    }
}
