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

extension MoyaProvider {
    /// Runs `prepare` and `willSend` of all plugins for a request that is stubbed, and returns the prepared request.
    public final func notifyPluginsOfImpendingStub(for request: URLRequest, target: Target) -> URLRequest {
        MoyaCall(request, plugins, target, session).prepare()
    }

    /// Returns a closure that completes a stubbed request with its sample response.
    public final func createStubFunction(
        _ token: CancellableToken,
        forTarget target: Target,
        withCompletion completion: @escaping Moya.Completion,
        endpoint: Endpoint,
        plugins: [any PluginType],
        request: URLRequest
    ) -> () -> Void {
        {
            let result: Result<Response, MoyaError> =
                if token.isCancelled {
                    .failure(.cancelled)
                } else {
                    Self.result(of: endpoint.sampleResponseClosure(), for: target, request)
                }
            for plugin in plugins { plugin.didReceive(result, target: target) }
            completion(result)
        }
    }

    private static func result(
        of sample: EndpointSampleResponse,
        for target: Target,
        _ request: URLRequest
    ) -> Result<Response, MoyaError> {
        let response: Response
        switch sample {
        case .networkResponse(let statusCode, let data):
            response = Response(statusCode: statusCode, data: data, request: request)
        case .response(let head, let data):
            response = Response(statusCode: head.statusCode, data: data, request: request, response: head)
        case .networkError(let error):
            return .failure(.underlying(error, nil))
        }
        return target.validationType.native.accepts(response.statusCode)
            ? .success(response) : .failure(.unaccepted(response))
    }
}
