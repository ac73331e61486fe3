public import PipelineCore

/// A decoded value together with its response.
public struct APIResponse<Output: Sendable>: Sendable {
    /// The value that the body was decoded to.
    public let body: Output
    /// The response that the value was decoded from.
    public let response: PipelineResponse
}
