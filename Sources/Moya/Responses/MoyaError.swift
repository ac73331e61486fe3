public import Foundation
import PipelineCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An error that describes why a request failed.
@available(swift, deprecated: 7, message: "Use PipelineError.")
public enum MoyaError: Swift.Error {
    /// The body is not an image.
    case imageMapping(Response)

    /// The body is not JSON, or has no value at a key path.
    case jsonMapping(Response)

    /// The body is not text, or has no text at a key path.
    case stringMapping(Response)

    /// The body cannot be decoded.
    case objectMapping(any Swift.Error, Response)

    /// A value cannot be encoded.
    case encodableMapping(any Swift.Error)

    /// The status is not one of those that are accepted.
    case statusCode(Response)

    /// Another error, such as one of the network, with the response if there was one.
    case underlying((any Swift.Error), Response?)

    /// The endpoint has an invalid URL.
    case requestMapping(String)

    /// The parameters cannot be encoded.
    case parameterEncoding(any Swift.Error)
}

extension MoyaError {
    /// The response; `nil` if the request failed without one.
    public var response: Response? {
        switch self {
        case .imageMapping(let response), .jsonMapping(let response), .stringMapping(let response),
            .objectMapping(_, let response), .statusCode(let response):
            response
        case .underlying(_, let response): response
        case .encodableMapping, .requestMapping, .parameterEncoding: nil
        }
    }

    /// The error that caused this one, if there is one.
    var underlyingError: (any Swift.Error)? {
        switch self {
        case .objectMapping(let error, _), .encodableMapping(let error), .underlying(let error, _),
            .parameterEncoding(let error):
            error
        case .imageMapping, .jsonMapping, .stringMapping, .statusCode, .requestMapping: nil
        }
    }
}

extension MoyaError: LocalizedError {
    /// A sentence that says what failed.
    public var errorDescription: String? {
        switch self {
        case .imageMapping: "The body of the response is not an image."
        case .jsonMapping: "The body of the response is not the expected JSON."
        case .stringMapping: "The body of the response is not the expected text."
        case .objectMapping: "The body of the response could not be decoded."
        case .encodableMapping: "A value of the request could not be encoded."
        case .statusCode: "The status of the response is not one of those accepted."
        case .underlying(let error, _): error.localizedDescription
        case .requestMapping: "The endpoint has an invalid URL."
        case .parameterEncoding(let error):
            "The parameters of the request could not be encoded. \(error.localizedDescription)"
        }
    }
}

extension MoyaError: CustomNSError {
    /// The description and the error that caused this one.
    public var errorUserInfo: [String: Any] {
        var values: [String: Any] = [:]
        values[NSLocalizedDescriptionKey] = errorDescription
        values[NSUnderlyingErrorKey] = underlyingError
        return values
    }
}

extension MoyaError {
    /// The failure of a request that was cancelled before it was sent, and of a cancelled stub.
    static var cancelled: MoyaError { .underlying(URLError(.cancelled), nil) }

    /// The failure of a sample response whose status the target does not accept.
    static func unaccepted(_ response: Response) -> MoyaError { .underlying(statusCode(response), response) }

    /// Converts an error of the native provider.
    init(_ error: PipelineError, _ response: Response?) {
        self = .underlying(AFError(error) ?? error, error.code == .cancelled ? nil : response)
    }
}
