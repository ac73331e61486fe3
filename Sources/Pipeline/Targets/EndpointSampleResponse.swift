public import Foundation
public import HTTPTypes

/// What a stub answers for an endpoint.
public struct EndpointSampleResponse: Sendable {
    /// The answer as the stub transport reads it.
    public enum Kind: Sendable {
        /// A response.
        case response(HTTPResponse, Data)
        /// A failure of the network.
        case failure(any Error)
    }

    /// The answer as the stub transport reads it.
    public let kind: Kind

    /// A status, 100 to 999, and a body.
    public static func networkResponse(_ statusCode: Int, _ data: Data) -> EndpointSampleResponse {
        precondition((100...999).contains(statusCode), "a status has three digits, not \(statusCode)")
        return EndpointSampleResponse(kind: .response(HTTPResponse(status: .init(code: statusCode)), data))
    }

    /// A whole response, header fields included.
    public static func response(_ response: HTTPResponse, _ data: Data) -> EndpointSampleResponse {
        EndpointSampleResponse(kind: .response(response, data))
    }

    /// A failure, as the network would give it; a `URLError` becomes the same typed error as on a real transport.
    public static func networkError(_ error: any Error) -> EndpointSampleResponse {
        EndpointSampleResponse(kind: .failure(error))
    }
}
