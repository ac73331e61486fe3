public import Foundation
public import HTTPTypes

/// A target that is a URL, for requests that need no target type.
///
/// ```swift
/// let client = Provider<URLTarget>(transport: URLSessionTransport(), plugins: [LoggingPlugin(level: .info)])
/// let repos = try await client.get("https://api.example.com/repos", as: [Repo].self)
/// ```
///
/// The requests pass through the same plugins as those of any other target. A `Provider<MultiTarget>` can send them
/// together with other targets.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `method` | `.get` |
/// | `task` | ``RequestTask/requestPlain`` |
/// | `headers` | `nil` |
/// | `validationType` | ``ValidationType/automatic`` |
/// | `authorizationType` | `nil`: no access token is sent |
/// | `options` | empty |
/// | `pathTemplate` | `nil` |
///
/// **Errors**: a text that is not an absolute http or https URL fails with
/// ``PipelineError/Code-swift.struct/invalidRequest(_:)`` before anything is sent. The error shows the scheme and host.
///
/// **Secrets**: the description shows the method, scheme, host and path, but no query values.
public struct URLTarget: TargetType, AccessTokenAuthorizable {
    /// The absolute URL, including its query if it has one.
    public var url: String
    /// The method of the request; defaults to GET.
    public var method: HTTPRequest.Method
    /// The content of the request and the destination of its response.
    public var task: RequestTask
    /// The header fields of the request; defaults to `nil`.
    public var headers: [String: String]?
    /// The statuses that count as success; defaults to those of the call.
    public var validationType = ValidationType.automatic
    /// The scheme with which a plugin sends an access token; `nil` sends no token.
    public var authorizationType: AuthorizationType?
    /// The settings for plugins and transports.
    public var options = RequestOptions()
    /// The path with the names of values instead of the values, for metrics and traces; defaults to `nil`.
    public var pathTemplate: String?

    /// Creates a target from a URL.
    ///
    /// - Parameters:
    ///   - url: the absolute http or https URL.
    ///   - method: the method of the request.
    ///   - task: the content of the request.
    ///   - headers: the header fields of the request.
    ///   - authorizationType: the scheme with which a plugin sends an access token; `nil` sends no token.
    public init(
        _ url: String,
        method: HTTPRequest.Method = .get,
        task: RequestTask = .requestPlain,
        headers: [String: String]? = nil,
        authorizationType: AuthorizationType? = nil
    ) {
        self.url = url
        self.method = method
        self.task = task
        self.headers = headers
        self.authorizationType = authorizationType
    }

    /// The whole URL, including its path and query.
    public var baseURL: URL { Endpoint.url(url) }

    /// Always empty, because ``baseURL`` includes the path.
    public var path: String { "" }
}

extension URLTarget: CustomStringConvertible, CustomReflectable {
    /// The method and the URL, without user name, query values and fragment.
    public var description: String { Endpoint(self).description }

    /// Shows the same as the description, so that `dump` reveals no secrets.
    public var customMirror: Mirror { Mirror(self, children: ["target": description]) }
}
