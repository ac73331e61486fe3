public import Foundation

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
