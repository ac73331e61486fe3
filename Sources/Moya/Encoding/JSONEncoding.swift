public import Foundation
import PipelineCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A parameter encoding that writes a JSON object into the body, with sorted keys.
///
/// It sets `Content-Type: application/json` unless the request has a Content-Type.
@available(swift, deprecated: 7, message: "Use JSONEncoding of Pipeline.")
public struct JSONEncoding: ParameterEncoding, Sendable {
    /// The options with which the JSON is written, in addition to sorted keys.
    public let options: JSONSerialization.WritingOptions

    /// An encoding that writes a single line.
    public static var `default`: JSONEncoding { JSONEncoding() }
    /// An encoding that writes indented lines.
    public static var prettyPrinted: JSONEncoding { JSONEncoding(options: .prettyPrinted) }

    /// Creates an encoding with writing options.
    public init(options: JSONSerialization.WritingOptions = []) {
        self.options = options
    }

    /// Returns the request with the parameters as its body; without parameters, returns the request unchanged.
    public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        try encode(urlRequest, object: parameters)
    }

    /// Returns the request with an array or a dictionary as its body.
    public func encode(_ urlRequest: any URLRequestConvertible, withJSONObject object: Any?) throws -> URLRequest {
        try encode(urlRequest, object: object)
    }

    private func encode(_ urlRequest: any URLRequestConvertible, object: Any?) throws -> URLRequest {
        var request = try urlRequest.asURLRequest()
        guard let object else { return request }
        guard JSONSerialization.isValidJSONObject(object) else {
            throw PipelineError(.encoding, "the parameters include a value that JSON cannot represent")
        }
        request.httpBody = try JSONSerialization.data(withJSONObject: object, options: options.union(.sortedKeys))
        request.setContentTypeIfAbsent("application/json")
        return request
    }
}
