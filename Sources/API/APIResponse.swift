public import Foundation
public import HTTPTypes
public import Pipeline

/// The value of an answer together with the answer.
public struct APIResponse<Output: Sendable>: Sendable {
    /// The value.
    public let body: Output
    /// The answer.
    public let response: PipelineResponse

    /// The status.
    public var statusCode: Int { response.statusCode }
    /// The header fields.
    public var headers: HTTPFields { response.headers }
    /// The bytes of the body.
    public var bodyData: Data { response.data }
}
