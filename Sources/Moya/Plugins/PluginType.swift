#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A plugin, which takes part in the requests of a ``MoyaProvider``.
///
/// It need not be `Sendable`. For a request that is sent, `prepare` and `willSend` run on a background thread, and the
/// other methods on the callback queue. For plugins `[A, B, C]`, every method runs in the order A, B, C.
@available(swift, deprecated: 7, message: "Use a stage of Pipeline, such as Stage.Prepare.")
public protocol PluginType {
    /// Returns the request to send in place of the given one.
    func prepare(_ request: URLRequest, target: any TargetType) -> URLRequest

    /// Observes the request immediately before it is sent or stubbed.
    func willSend(_ request: any RequestType, target: any TargetType)

    /// Observes the result before `process` of all plugins.
    func didReceive(_ result: Result<Moya.Response, MoyaError>, target: any TargetType)

    /// Returns the result for the completion in place of the given one.
    func process(
        _ result: Result<Moya.Response, MoyaError>,
        target: any TargetType
    ) -> Result<Moya.Response, MoyaError>
}

extension PluginType {
    /// Returns the request unchanged.
    public func prepare(_ request: URLRequest, target: any TargetType) -> URLRequest { request }

    /// Does nothing with the request.
    public func willSend(_ request: any RequestType, target: any TargetType) {}

    /// Does nothing with the result.
    public func didReceive(_ result: Result<Moya.Response, MoyaError>, target: any TargetType) {}

    /// Returns the result unchanged.
    public func process(
        _ result: Result<Moya.Response, MoyaError>,
        target: any TargetType
    ) -> Result<Moya.Response, MoyaError> { result }
}

/// A request that is about to be sent, as plugins see it.
@available(swift, deprecated: 7, message: "Use PipelineRequest.")
public protocol RequestType {
    /// The request.
    var request: URLRequest? { get }

    /// The header fields that the transport adds to every request, as far as they are known.
    var sessionHeaders: [String: String] { get }

    /// Sets the user name and password for an authentication challenge.
    func authenticate(username: String, password: String, persistence: URLCredential.Persistence) -> Self

    /// Sets the credential for an authentication challenge.
    func authenticate(with credential: URLCredential) -> Self

    /// Calls a closure with the request as a cURL command.
    func cURLDescription(calling handler: @escaping (String) -> Void) -> Self
}
