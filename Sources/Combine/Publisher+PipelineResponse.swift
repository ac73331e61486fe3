#if canImport(Combine) || OpenCombine
public import Foundation
public import Pipeline

#if canImport(Combine)
public import Combine
#else
public import OpenCombine
#endif

#if canImport(UIKit)
public import UIKit
#elseif canImport(AppKit)
public import AppKit
#endif

/// Filters and mappings of responses; each fails as the method of `PipelineResponse` with its name throws.
extension Publisher where Output == PipelineResponse, Failure == PipelineError {
    /// Fails for a status that is none of these.
    public func filter(
        statusCodes: some RangeExpression<Int>
    ) -> AnyPublisher<PipelineResponse, PipelineError> {
        mapped { try $0.filter(statusCodes: statusCodes) }
    }

    /// Fails for any other status.
    public func filter(statusCode: Int) -> AnyPublisher<PipelineResponse, PipelineError> {
        mapped { try $0.filter(statusCode: statusCode) }
    }

    /// Fails for a status that is not 200 to 299.
    public func filterSuccessfulStatusCodes() -> AnyPublisher<PipelineResponse, PipelineError> {
        mapped { try $0.filterSuccessfulStatusCodes() }
    }

    /// Fails for a status that is not 200 to 399.
    public func filterSuccessfulStatusAndRedirectCodes() -> AnyPublisher<PipelineResponse, PipelineError> {
        mapped { try $0.filterSuccessfulStatusAndRedirectCodes() }
    }

    /// The body as a JSON value.
    ///
    /// - Parameter failsOnEmptyData: whether an empty body is an error; without, it is `NSNull`.
    /// - Returns: a publisher of what `JSONSerialization` makes of the body.
    public func mapJSON(failsOnEmptyData: Bool = true) -> AnyPublisher<Any, PipelineError> {
        mapped { try $0.mapJSON(failsOnEmptyData: failsOnEmptyData) }
    }

    /// The body as text.
    public func mapString() -> AnyPublisher<String, PipelineError> {
        mapped { try $0.mapString() }
    }

    /// A string inside the body's JSON.
    ///
    /// - Parameter keyPath: where it stands, names joined by full stops.
    /// - Returns: a publisher of the string.
    public func mapString(atKeyPath keyPath: String) -> AnyPublisher<String, PipelineError> {
        mapped { try $0.mapString(atKeyPath: keyPath) }
    }

    /// The body, or a part of its JSON, decoded.
    ///
    /// - Parameters:
    ///   - type: what to decode.
    ///   - keyPath: where in the JSON the value stands, names joined by full stops; `nil` for the whole body.
    ///   - decoder: the decoder; defaults to `nil`, that of the provider.
    ///   - failsOnEmptyData: whether an empty body is an error; without, it decodes as `{}` or `[]`.
    /// - Returns: a publisher of the value.
    public func map<Value: Decodable>(
        _ type: Value.Type,
        atKeyPath keyPath: String? = nil,
        using decoder: JSONDecoder? = nil,
        failsOnEmptyData: Bool = true
    ) -> AnyPublisher<Value, PipelineError> {
        mapped { try $0.map(type, atKeyPath: keyPath, using: decoder, failsOnEmptyData: failsOnEmptyData) }
    }

    #if canImport(UIKit) || canImport(AppKit)
    /// The body as an image of the platform.
    public func mapImage() -> AnyPublisher<PipelineResponse.Image, PipelineError> {
        mapped { try $0.mapImage() }
    }
    #endif

    private func mapped<Value>(
        _ transform: @escaping (PipelineResponse) throws -> Value
    ) -> AnyPublisher<Value, PipelineError> {
        tryMap(transform)
            .mapError { error in
                error as? PipelineError
                    ?? PipelineError(.mapping(.object), "the response could not be mapped", underlyingError: error)
            }
            .eraseToAnyPublisher()
    }
}
#endif
