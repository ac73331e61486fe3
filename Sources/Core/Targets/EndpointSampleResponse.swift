public import Foundation
public import HTTPTypes

/// The response or failure that a stub returns for an endpoint.
public struct EndpointSampleResponse: Sendable {
    /// The sample in the form that the stub transport reads.
    public enum Kind: Sendable {
        /// A response with its body.
        case response(HTTPResponse, Data)
        /// A network failure.
        case failure(any Error)
    }

    /// The sample in the form that the stub transport reads.
    public let kind: Kind

    /// Creates a response from a body and a status code, which must be from 100 to 999.
    public static func networkResponse(_ statusCode: Int, _ data: Data) -> EndpointSampleResponse {
        precondition((100...999).contains(statusCode), "a status has three digits, not \(statusCode)")
        return EndpointSampleResponse(kind: .response(HTTPResponse(status: .init(code: statusCode)), data))
    }

    /// Creates a response with a status, header fields and a body.
    public static func response(_ response: HTTPResponse, _ data: Data) -> EndpointSampleResponse {
        EndpointSampleResponse(kind: .response(response, data))
    }

    /// Creates a network failure; a `URLError` becomes the same typed error as on a real transport.
    public static func networkError(_ error: any Error) -> EndpointSampleResponse {
        EndpointSampleResponse(kind: .failure(error))
    }
}
