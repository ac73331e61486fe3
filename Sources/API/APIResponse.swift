public import Pipeline

/// A decoded value together with its response.
public struct APIResponse<Output: Sendable>: Sendable {
    /// The decoded value.
    public let body: Output
    /// The response.
    public let response: PipelineResponse
}
