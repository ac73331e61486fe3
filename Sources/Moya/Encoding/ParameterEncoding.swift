#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// Request parameters, each a name with a value.
@available(swift, deprecated: 7, message: "Use RequestParameters.")
public typealias Parameters = [String: Any]

/// A type that can be turned into a `URLRequest`.
@available(swift, deprecated: 7, message: "Use PipelineRequest.")
public protocol URLRequestConvertible {
    /// Returns the request.
    func asURLRequest() throws -> URLRequest
}

extension URLRequest: URLRequestConvertible {
    /// Returns the request itself.
    public func asURLRequest() -> URLRequest { self }
}

/// A type that writes parameters into a request.
@available(swift, deprecated: 7, message: "Use ParameterEncoding of Pipeline.")
public protocol ParameterEncoding {
    /// Returns the request with the parameters in its query or its body.
    func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest
}
