public import Foundation

/// A wrapper for any target, so that one provider can serve several APIs.
///
/// Plugins see the wrapper, not the wrapped target.
@available(swift, deprecated: 7, message: "Use MultiTarget of Pipeline.")
public enum MultiTarget: TargetType, AccessTokenAuthorizable {
    /// A wrapped target.
    case target(any TargetType)

    /// Creates a wrapper for a target.
    public init(_ target: any TargetType) {
        self = .target(target)
    }

    /// The wrapped target, which may be a wrapper.
    public var target: any TargetType {
        switch self {
        case .target(let target): target
        }
    }

    /// The wrapped target's base URL.
    public var baseURL: URL { target.baseURL }

    /// The wrapped target's path.
    public var path: String { target.path }

    /// The wrapped target's method.
    public var method: Moya.Method { target.method }

    /// The wrapped target's sample body.
    public var sampleData: Data { target.sampleData }

    /// The wrapped target's task.
    public var task: Task { target.task }

    /// The wrapped target's validation.
    public var validationType: ValidationType { target.validationType }

    /// The wrapped target's header fields.
    public var headers: [String: String]? { target.headers }

    /// The wrapped target's authorization type; `nil` if it has none.
    public var authorizationType: AuthorizationType? {
        (target as? any AccessTokenAuthorizable)?.authorizationType
    }

    /// The target inside all wrappers.
    var innermost: any TargetType {
        (target as? MultiTarget)?.innermost ?? target
    }
}
