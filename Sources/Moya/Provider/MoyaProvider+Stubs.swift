#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

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
        return target.validationType.accepts(response.statusCode) ? .success(response) : .failure(.unaccepted(response))
    }
}
