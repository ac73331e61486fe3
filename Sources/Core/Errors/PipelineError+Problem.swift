public import Foundation

extension PipelineError {
    /// Decodes the body of the response as the type that the API uses for its errors.
    ///
    /// ```swift
    /// } catch let error as PipelineError {
    ///     if let form = error.failure(as: FormErrors.self) { show(form.errors) }
    /// }
    /// ```
    ///
    /// To make the text for people from it, set ``RequestOptions/errorText`` for a target, or for all calls in
    /// ``ProviderConfiguration/options``.
    ///
    /// - Parameters:
    ///   - type: the type to decode from the whole body, whatever its media type and the code of the error.
    ///   - decoder: the decoder; `nil` for that of the provider.
    /// - Returns: the value; `nil` if the call failed without a response, or if the body does not decode.
    public func failure<Value: Decodable>(as type: Value.Type, using decoder: JSONDecoder? = nil) -> Value? {
        try? response?.map(type, using: decoder)
    }

    /// The problem that the server reported (RFC 9457), from ``PipelineResponse/problemDetails``; `nil` without a
    /// response.
    public var problemDetails: ProblemDetails? { response?.problemDetails }
}
