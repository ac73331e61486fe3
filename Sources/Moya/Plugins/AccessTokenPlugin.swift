#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

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
