#if canImport(Combine) || OpenCombine
public import Foundation
public import PipelineCore

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

/// Filters and mappings of responses. Each fails with the error that the method of `PipelineResponse` of the same name
/// throws.
extension Publisher where Output == PipelineResponse, Failure == PipelineError {
    /// Fails if the status is not in the range.
    public func filter(
        statusCodes: some RangeExpression<Int>
    ) -> AnyPublisher<PipelineResponse, PipelineError> {
        mapped { try $0.filter(statusCodes: statusCodes) }
    }

    /// Fails if the status is not this one.
    public func filter(statusCode: Int) -> AnyPublisher<PipelineResponse, PipelineError> {
        mapped { try $0.filter(statusCode: statusCode) }
    }

    /// Fails if the status is not from 200 to 299.
    public func filterSuccessfulStatusCodes() -> AnyPublisher<PipelineResponse, PipelineError> {
        mapped { try $0.filterSuccessfulStatusCodes() }
    }

    /// Fails if the status is not from 200 to 399.
    public func filterSuccessfulStatusAndRedirectCodes() -> AnyPublisher<PipelineResponse, PipelineError> {
        mapped { try $0.filterSuccessfulStatusAndRedirectCodes() }
    }

    /// Maps the body to a JSON value.
    ///
    /// - Parameter failsOnEmptyData: whether an empty body is an error; if `false`, it maps to `NSNull`.
    /// - Returns: a publisher of the value that `JSONSerialization` returns for the body.
    public func mapJSON(failsOnEmptyData: Bool = true) -> AnyPublisher<Any, PipelineError> {
        mapped { try $0.mapJSON(failsOnEmptyData: failsOnEmptyData) }
    }

    /// Maps the body to text.
    public func mapString() -> AnyPublisher<String, PipelineError> {
        mapped { try $0.mapString() }
    }

    /// Maps the body to a string within its JSON.
    ///
    /// - Parameter keyPath: the path to the string, names joined by full stops.
    /// - Returns: a publisher of the string.
    public func mapString(atKeyPath keyPath: String) -> AnyPublisher<String, PipelineError> {
        mapped { try $0.mapString(atKeyPath: keyPath) }
    }

    /// Decodes the body, or a value within its JSON.
    ///
    /// - Parameters:
    ///   - type: the type to decode.
    ///   - keyPath: the path to the value within the JSON, names joined by full stops; defaults to `nil`, the whole
    ///     body.
    ///   - decoder: the decoder; defaults to `nil`, the provider's decoder.
    ///   - failsOnEmptyData: whether an empty body is an error; if `false`, it decodes as `{}` or `[]`.
    /// - Returns: a publisher of the decoded value.
    public func map<Value: Decodable>(
        _ type: Value.Type,
        atKeyPath keyPath: String? = nil,
        using decoder: JSONDecoder? = nil,
        failsOnEmptyData: Bool = true
    ) -> AnyPublisher<Value, PipelineError> {
        mapped { try $0.map(type, atKeyPath: keyPath, using: decoder, failsOnEmptyData: failsOnEmptyData) }
    }

    #if canImport(UIKit) || canImport(AppKit)
    /// Maps the body to an image of the platform.
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

extension Publisher where Output == ProgressResponse, Failure == PipelineError {
    /// Publishes the response of the last step.
    public func filterCompleted() -> AnyPublisher<PipelineResponse, PipelineError> {
        compactMap { $0.response }.eraseToAnyPublisher()
    }

    /// Publishes the progress of every step but the last, from 0 to below 1.
    public func filterProgress() -> AnyPublisher<Double, PipelineError> {
        filter { !$0.completed }.map { $0.progress }.eraseToAnyPublisher()
    }
}
#endif
