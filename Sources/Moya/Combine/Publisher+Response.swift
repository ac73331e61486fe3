#if canImport(Combine) || OpenCombine
public import Foundation

#if canImport(Combine)
public import Combine
#else
public import OpenCombine
#endif

extension Publisher where Output == Response, Failure == MoyaError {
    /// Fails unless the status is in a range, like ``Response/filter(statusCodes:)``.
    public func filter<R: RangeExpression>(statusCodes: R) -> AnyPublisher<Response, MoyaError> where R.Bound == Int {
        mapped { try $0.filter(statusCodes: statusCodes) }
    }

    /// Fails unless the response has the given status.
    public func filter(statusCode: Int) -> AnyPublisher<Response, MoyaError> {
        mapped { try $0.filter(statusCode: statusCode) }
    }

    /// Fails unless the status is 200 to 299.
    public func filterSuccessfulStatusCodes() -> AnyPublisher<Response, MoyaError> {
        mapped { try $0.filterSuccessfulStatusCodes() }
    }

    /// Fails unless the status is 200 to 399.
    public func filterSuccessfulStatusAndRedirectCodes() -> AnyPublisher<Response, MoyaError> {
        mapped { try $0.filterSuccessfulStatusAndRedirectCodes() }
    }

    /// Publishes the body as JSON, like ``Response/mapJSON(failsOnEmptyData:)``.
    public func mapJSON(failsOnEmptyData: Bool = true) -> AnyPublisher<Any, MoyaError> {
        mapped { try $0.mapJSON(failsOnEmptyData: failsOnEmptyData) }
    }

    /// Publishes the body as text, like ``Response/mapString(atKeyPath:)``.
    public func mapString(atKeyPath keyPath: String? = nil) -> AnyPublisher<String, MoyaError> {
        mapped { try $0.mapString(atKeyPath: keyPath) }
    }

    /// Publishes the decoded body, like ``Response/map(_:atKeyPath:using:failsOnEmptyData:)``.
    public func map<D: Decodable>(
        _ type: D.Type,
        atKeyPath keyPath: String? = nil,
        using decoder: JSONDecoder = JSONDecoder(),
        failsOnEmptyData: Bool = true
    ) -> AnyPublisher<D, MoyaError> {
        mapped { try $0.map(type, atKeyPath: keyPath, using: decoder, failsOnEmptyData: failsOnEmptyData) }
    }

    #if canImport(UIKit) || canImport(AppKit)
    /// Publishes the body as an image.
    public func mapImage() -> AnyPublisher<Image, MoyaError> {
        mapped { try $0.mapImage() }
    }
    #endif

    private func mapped<Value>(_ transform: @escaping (Response) throws -> Value) -> AnyPublisher<Value, MoyaError> {
        tryMap(transform)
            .mapError { $0 as? MoyaError ?? .underlying($0, nil) }
            .eraseToAnyPublisher()
    }
}

extension Publisher where Output == ProgressResponse, Failure == MoyaError {
    /// Publishes the response of the last step.
    public func filterCompleted() -> AnyPublisher<Response, MoyaError> {
        compactMap(\.response).eraseToAnyPublisher()
    }

    /// Publishes the progress of all steps but the last.
    public func filterProgress() -> AnyPublisher<Double, MoyaError> {
        filter { !$0.completed }.map(\.progress).eraseToAnyPublisher()
    }
}
#endif
