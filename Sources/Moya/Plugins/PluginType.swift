public import PipelineAuth
public import PipelineCore
public import PipelinePlugins

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

/// A wrapper for a plugin of Pipeline that does not itself conform to ``PluginType``.
///
/// Plugins of the modules PipelinePlugins and PipelineAuth conform. Wrap your own, and those of other modules, such as
/// `CachePlugin` and `InspectorPlugin`: this module does not depend on theirs, so that apps do not link them.
///
/// Plugins of Pipeline keep their order, and run inside all other plugins of the provider, whatever their position in
/// its list. They take no part in stubs.
public struct NativePlugin: PluginType {
    let plugin: any PipelineCore.PluginType
}

extension PluginType where Self == NativePlugin {
    /// Wraps a plugin of Pipeline.
    public static func native(_ plugin: any PipelineCore.PluginType) -> NativePlugin {
        NativePlugin(plugin: plugin)
    }
}

extension PluginStack: PluginType {}

extension ActivityPlugin: PluginType {}
extension BasicAuthPlugin: PluginType {}
extension DeduplicationPlugin: PluginType {}
extension EventsPlugin: PluginType {}
extension GzipPlugin: PluginType {}
extension HeadersPlugin: PluginType {}
extension LoggingPlugin: PluginType {}
extension MinimumDurationPlugin: PluginType {}
extension OAuthPlugin: PluginType {}
extension PipelinePlugins.AccessTokenPlugin: PluginType {}
extension PipelineAuth.CredentialsPlugin: PluginType {}
extension RequestIDPlugin: PluginType {}
extension RetryPlugin: PluginType {}
extension TimeoutPlugin: PluginType {}
extension TokenRefreshPlugin: PluginType {}
extension UnauthorizedPlugin: PluginType {}

/// A target that is sent with an access token.
@available(swift, deprecated: 7, message: "Use AccessTokenAuthorizable of Pipeline.")
public protocol AccessTokenAuthorizable {
    /// The scheme of the token; `nil` sends no token.
    var authorizationType: AuthorizationType? { get }
}

/// The scheme that precedes a token in the Authorization field.
@available(swift, deprecated: 7, message: "Use AuthorizationType of Pipeline.")
public enum AuthorizationType: Equatable, Sendable {
    /// The `Basic` scheme; the token is sent unchanged.
    case basic
    /// The `Bearer` scheme.
    case bearer
    /// A scheme with another name.
    case custom(String)

    /// The name of the scheme as it is sent.
    public var value: String {
        switch self {
        case .basic: "Basic"
        case .bearer: "Bearer"
        case .custom(let name): name
        }
    }
}

/// A plugin that sends an access token with targets that are ``AccessTokenAuthorizable``.
///
/// It replaces an Authorization field of the request.
@available(swift, deprecated: 7, message: "Use AccessTokenPlugin of PipelinePlugins.")
public struct AccessTokenPlugin: PluginType {
    /// Returns the token for a target, which is never a ``MultiTarget``.
    public typealias TokenClosure = (any TargetType) -> String

    /// Returns the token for a target.
    public let tokenClosure: TokenClosure

    /// Creates a plugin that calls a closure for each request.
    public init(tokenClosure: @escaping TokenClosure) {
        self.tokenClosure = tokenClosure
    }

    /// Returns the request with the token, if the target is sent with one.
    public func prepare(_ request: URLRequest, target: any TargetType) -> URLRequest {
        guard let type = (target as? any AccessTokenAuthorizable)?.authorizationType else { return request }
        var request = request
        let token = tokenClosure((target as? MultiTarget)?.innermost ?? target)
        request.setValue("\(type.value) \(token)", forHTTPHeaderField: "Authorization")
        return request
    }
}

/// A plugin that sets the credential with which an authentication challenge is answered.
@available(swift, deprecated: 7, message: "Use CredentialsPlugin of PipelineAuth.")
public final class CredentialsPlugin: PluginType {
    /// Returns the credential for a target; `nil` for none.
    public typealias CredentialClosure = (any TargetType) -> URLCredential?

    private let credentialsClosure: CredentialClosure

    /// Creates a plugin that calls a closure for each request.
    public init(credentialsClosure: @escaping CredentialClosure) {
        self.credentialsClosure = credentialsClosure
    }

    /// Sets the credential of the request.
    public func willSend(_ request: any RequestType, target: any TargetType) {
        if let credential = credentialsClosure(target) { _ = request.authenticate(with: credential) }
    }
}

/// Whether a request begins or ends.
@available(swift, deprecated: 7, message: "Use ActivityPlugin.")
public enum NetworkActivityChangeType: Sendable {
    /// The request is about to be sent.
    case began
    /// The request has a result.
    case ended
}

/// A plugin that calls a closure when a request begins and when it ends.
@available(swift, deprecated: 7, message: "Use ActivityPlugin.")
public final class NetworkActivityPlugin: PluginType {
    /// Observes the beginning or the end of a request.
    public typealias NetworkActivityClosure = (_ change: NetworkActivityChangeType, _ target: any TargetType) -> Void

    private let networkActivityClosure: NetworkActivityClosure

    /// Creates a plugin that calls a closure for each request.
    public init(networkActivityClosure: @escaping NetworkActivityClosure) {
        self.networkActivityClosure = networkActivityClosure
    }

    /// Reports that the request begins.
    public func willSend(_ request: any RequestType, target: any TargetType) {
        networkActivityClosure(.began, target)
    }

    /// Reports the end, also of a request that was cancelled.
    public func didReceive(_ result: Result<Moya.Response, MoyaError>, target: any TargetType) {
        networkActivityClosure(.ended, target)
    }
}
