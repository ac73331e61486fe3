public import Foundation
public import HTTPTypes

/// A target that is a URL, for requests that need no target type of their own.
///
/// ```swift
/// let client = Provider<URLTarget>(transport: URLSessionTransport(), plugins: [LoggingPlugin(level: .info)])
/// let repos = try await client.get("https://api.example.com/repos", as: [Repo].self)
/// ```
///
/// The requests pass the same plugins as those of any other target. A `Provider<MultiTarget>` sends them beside other targets.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `method` | `.get` |
/// | `task` | ``RequestTask/requestPlain`` |
/// | `headers` | `nil` |
/// | `validationType` | ``ValidationType/successCodes`` |
/// | `authorizationType` | `nil`: no access token is sent |
/// | `options` | empty |
///
/// **Errors**: a text that is not an absolute http or https URL is ``PipelineError/Code-swift.struct/invalidRequest(_:)``, before anything
/// is sent. The error shows scheme and host.
///
/// **Secrets**: the description shows method, scheme, host and path, but no query values.
public struct URLTarget: TargetType, AccessTokenAuthorizable {
    /// The absolute URL, with a query if it has one.
    public var url: String
    /// The method.
    public var method: HTTPRequest.Method
    /// What the request carries.
    public var task: RequestTask
    /// Header fields of the request.
    public var headers: [String: String]?
    /// Which statuses count as success.
    public var validationType = ValidationType.successCodes
    /// The form in which a plugin sends an access token; `nil` sends none.
    public var authorizationType: AuthorizationType?
    /// Settings for plugins and transports.
    public var options = RequestOptions()

    /// Creates a target.
    ///
    /// - Parameters:
    ///   - url: the absolute URL, http or https.
    ///   - method: the method.
    ///   - task: what the request carries.
    ///   - headers: header fields of the request.
    public init(
        _ url: String,
        method: HTTPRequest.Method = .get,
        task: RequestTask = .requestPlain,
        headers: [String: String]? = nil
    ) {
        self.url = url
        self.method = method
        self.task = task
        self.headers = headers
    }

    /// The whole URL.
    public var baseURL: URL { Endpoint.url(url) }

    /// Empty: ``baseURL`` has the path.
    public var path: String { "" }
}

extension URLTarget: CustomStringConvertible, CustomReflectable {
    /// The method and the URL, without user name, query values and fragment.
    public var description: String { Endpoint(self).description }

    /// Only what the description shows, so that `dump` leaks nothing either.
    public var customMirror: Mirror { Mirror(self, children: ["target": description]) }
}
