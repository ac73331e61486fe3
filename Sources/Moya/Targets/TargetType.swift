public import Foundation
import PipelineCore

/// A description of an API request, usually a case of an enum.
///
/// It need not be `Sendable`: the provider reads it on the caller's thread. Plugins may read it on other threads, one
/// after another.
///
/// **Defaults**: `sampleData` is empty, and `validationType` is ``ValidationType/none``.
@available(swift, deprecated: 7, message: "Use TargetType of Pipeline.")
public protocol TargetType: SendableMetatype {
    /// The URL that all requests of this API begin with.
    var baseURL: URL { get }

    /// The path that is appended to `baseURL`; reserved characters, including `?` and `%`, are percent-encoded.
    var path: String { get }

    /// The method of the request.
    var method: Moya.Method { get }

    /// The body of a stubbed response.
    var sampleData: Data { get }

    /// The content of the request and the destination of its response.
    var task: Task { get }

    /// The statuses that count as success.
    var validationType: ValidationType { get }

    /// The header fields of the request; `nil` for none.
    var headers: [String: String]? { get }
}

extension TargetType {
    /// Accepts responses with any status.
    public var validationType: ValidationType { .none }

    /// An empty sample body.
    public var sampleData: Data { Data() }
}

extension URL {
    /// Creates the URL of a target from its base URL and its path.
    ///
    /// If the path is empty, the base URL is used unchanged.
    public init(target: some TargetType) {
        let path = target.path
        self = path.isEmpty ? target.baseURL : target.baseURL.appendingPathComponent(path)
    }
}

/// An HTTP method, such as GET.
@available(swift, deprecated: 7, message: "Use HTTPMethod.")
public struct Method: RawRepresentable, Hashable, Sendable {
    /// The name of the method as it is sent.
    public let rawValue: String

    /// Creates a method from its name, which is case-sensitive.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The method CONNECT, which opens a tunnel.
    public static let connect = Method(rawValue: "CONNECT")
    /// The method DELETE, which removes a resource.
    public static let delete = Method(rawValue: "DELETE")
    /// The method GET, which reads a resource.
    public static let get = Method(rawValue: "GET")
    /// The method HEAD, which reads header fields only.
    public static let head = Method(rawValue: "HEAD")
    /// The method OPTIONS, which asks what a resource supports.
    public static let options = Method(rawValue: "OPTIONS")
    /// The method PATCH, which changes a part of a resource.
    public static let patch = Method(rawValue: "PATCH")
    /// The method POST, which submits data.
    public static let post = Method(rawValue: "POST")
    /// The method PUT, which replaces a resource.
    public static let put = Method(rawValue: "PUT")
    /// The method QUERY, which reads with a body.
    public static let query = Method(rawValue: "QUERY")
    /// The method TRACE, which returns the request.
    public static let trace = Method(rawValue: "TRACE")

    /// Whether a request with this method can carry a multipart form: POST, PUT, PATCH and CONNECT.
    public var supportsMultipart: Bool { [.post, .put, .patch, .connect].contains(self) }
}

/// The statuses that a target accepts as success.
@available(swift, deprecated: 7, message: "Use ValidationType of Pipeline, and anyStatus for none.")
public enum ValidationType: Equatable, Sendable {
    /// Accepts every status.
    case none
    /// Accepts the statuses 200 to 299.
    case successCodes
    /// Accepts the statuses 200 to 399.
    case successAndRedirectCodes
    /// Accepts the given statuses; an empty list accepts every status.
    case customCodes([Int])

    /// The same validation by the native provider.
    var native: PipelineCore.ValidationType {
        switch self {
        case .none: .anyStatus
        case .successCodes: .successCodes
        case .successAndRedirectCodes: .successAndRedirectCodes
        case .customCodes(let codes): codes.isEmpty ? .anyStatus : .customCodes(codes)
        }
    }
}

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
