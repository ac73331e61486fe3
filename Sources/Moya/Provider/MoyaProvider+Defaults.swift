public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension MoyaProvider {
    /// Returns the endpoint that a provider without an endpoint closure uses for a target.
    public final class func defaultEndpointMapping(for target: Target) -> Endpoint {
        Endpoint(
            url: URL(target: target).absoluteString,
            sampleResponseClosure: { .networkResponse(200, target.sampleData) },
            method: target.method,
            task: target.task,
            httpHeaderFields: target.headers
        )
    }

    /// Calls a closure with the request of an endpoint, as a provider without a request closure does.
    public final class func defaultRequestMapping(
        for endpoint: Endpoint,
        closure: (Result<URLRequest, MoyaError>) -> Void
    ) {
        do {
            closure(.success(try endpoint.urlRequest()))
        } catch let error as MoyaError {
            if case .encodableMapping = error {
                closure(.failure(.underlying(error, nil)))
            } else {
                closure(.failure(error))
            }
        } catch {
            closure(.failure(.underlying(error, nil)))
        }
    }

    /// Returns the session of a provider for which none is given: it has Foundation's default configuration, which
    /// stores cookies and caches responses.
    public final class func defaultAlamofireSession() -> Session {
        Session()
    }

    /// Stubs no target: all are sent.
    public final class func neverStub(_: Target) -> Moya.StubBehavior { .never }

    /// Stubs every target at once.
    public final class func immediatelyStub(_: Target) -> Moya.StubBehavior { .immediate }

    /// Stubs every target after a delay.
    public final class func delayedStub(_ seconds: TimeInterval) -> (Target) -> Moya.StubBehavior {
        { _ in .delayed(seconds: seconds) }
    }
}

/// Returns the result of a request from what Foundation's `URLSession` returns.
///
/// - Returns: a success if there is a response and no error; ``MoyaError/underlying(_:_:)`` otherwise, with
///   `URLError.unknown` if there is neither.
@available(swift, deprecated: 7, message: "Provider<Target> returns responses itself.")
public func convertResponseToResult(
    _ response: HTTPURLResponse?,
    request: URLRequest?,
    data: Data?,
    error: (any Swift.Error)?
) -> Result<Moya.Response, MoyaError> {
    let converted = response.map {
        Response(statusCode: $0.statusCode, data: data ?? Data(), request: request, response: $0)
    }
    if let error { return .failure(.underlying(error, converted)) }
    return converted.map { .success($0) } ?? .failure(.underlying(URLError(.unknown), nil))
}
