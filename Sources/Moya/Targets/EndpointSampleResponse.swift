public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The response or failure of a stub.
@available(swift, deprecated: 7, message: "Use EndpointSampleResponse of Pipeline.")
public enum EndpointSampleResponse {
    /// A response with a status code and a body.
    case networkResponse(Int, Data)

    /// A response with its status, header fields and URL, and a body.
    case response(HTTPURLResponse, Data)

    /// A failure of the network.
    case networkError(NSError)
}
