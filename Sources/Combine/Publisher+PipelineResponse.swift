#if canImport(Combine) || OpenCombine
public import Pipeline

#if canImport(Combine)
public import Combine
#else
public import OpenCombine
#endif

extension Publisher where Output == PipelineResponse, Failure == PipelineError {
    /// Returns a publisher of what a closure makes of each response; it filters and decodes.
    ///
    /// ```swift
    /// provider.requestPublisher(.book(id: 3))
    ///     .mapResponse { try $0.filterSuccessfulStatusCodes().map(Book.self) }
    /// ```
    ///
    /// **Errors**: the `PipelineError` that the closure throws; for an error of another type, code `PipelineError.Code.mapping`
    /// with that error as the underlying one.
    ///
    /// - Parameter transform: makes the value, on the queue of the publisher.
    /// - Returns: the publisher.
    public func mapResponse<Value>(
        _ transform: @escaping @Sendable (PipelineResponse) throws -> Value
    ) -> AnyPublisher<Value, PipelineError> {
        tryMap(transform)
            .mapError { error in
                error as? PipelineError
                    ?? PipelineError(.mapping, "the response could not be mapped", underlyingError: error)
            }
            .eraseToAnyPublisher()
    }
}
#endif
