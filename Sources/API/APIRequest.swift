public import Foundation
public import PipelineCore

/// A request to an API and the type that its response decodes to, as one value that modifiers change.
///
/// ```swift
/// extension AuthController {
///     static func login(email: String, password: String) -> APIRequest<LoginResponse> {
///         APIRequest("login").method(.post).basicAuth(username: email, password: password)
///             .addCustomError(.notFound, "User not found")
///     }
/// }
/// let token = try await api.send(AuthController.login(email: email, password: password)).token
/// ```
///
/// An `APIRequest` is a target like any other. An ``APIClient`` sends it; if it has its own server, so does any
/// `Provider<MultiTarget>`. Each modifier returns a copy. Making or changing a request sends nothing.
///
/// `Output` determines how the response is decoded. ``IgnoredBody`` decodes from anything, and `Data` is the unchanged
/// body. `String`, `Bool` and numbers are read from the body as text, and every other type from JSON. An optional type
/// is `nil` if the body is empty, as with status 204, or `null` (except `Data?`); otherwise it decodes like the type
/// that it wraps.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `method` | POST with a payload, else GET |
/// | `desiredStatusCode` | 200 to 299 |
/// | `serverURL` | the client's server |
/// | dates | the client's strategies; ISO 8601 without a client |
/// | plugins | the provider's; an option for a plugin that it lacks is reported, see `ProviderConfiguration.UnhandledOptionPolicy` |
/// | `attemptTimeout` | none |
///
/// **Errors**
///
/// | code | when |
/// |---|---|
/// | `unacceptableStatus` | the status is not a desired one; the error has the response |
/// | `encoding` | the query or the payload cannot be encoded; nothing is sent |
/// | `invalidRequest.option` | an option is for a plugin that the provider lacks, and the policy for it is `.fail`; nothing is sent |
/// | `invalidRequest` | the server is missing, or a header field, a credential or the URL is invalid; nothing is sent |
/// | `invalidRequest.path` | the endpoint has a segment `.` or `..`, or any part but the first is empty; nothing is sent |
/// | `invalidRequest.body` | the request has a payload, a file or a stream, but its method has no body, such as GET; nothing is sent |
/// | `file` | a file to be sent cannot be read |
/// | `bodyChanged` | the length of a file in a form has changed since the call began |
/// | `limit` | the body of the response exceeds `ProviderConfiguration.Limits.bufferedBodyByteCount` |
/// | `mapping` | the response cannot be decoded; the error has the response |
///
/// In a module that is isolated to the main actor by default, declare models of responses and queries as `nonisolated`.
/// Payloads need no annotation.
///
/// **Secrets**: the description shows only the method and the path.
public struct APIRequest<Output: Decodable & Sendable>: DecodableTargetType, AccessTokenAuthorizable,
    OptionsModifying
{
    /// The type that the response decodes to.
    public typealias ResultType = Output

    var parts: APIRequestParts

    /// Creates a request to an endpoint.
    ///
    /// - Parameters:
    ///   - endpoint: the path below the server's path, in parts that are joined by one slash each. A single part may
    ///     include a query after a question mark; in several parts, a question mark belongs to the path. Slashes within
    ///     a part and `%` followed by two hexadecimal digits are sent unchanged.
    ///   - payload: the content of the request; defaults to `nil`.
    public init(_ endpoint: String..., payload: (any APIPayload)? = nil) {
        parts = APIRequestParts(endpoint: endpoint, payload: payload)
    }

    /// Creates a request from the parts of a path that are known only at run time.
    ///
    /// - Parameters:
    ///   - endpoint: the parts of the path, which are joined like those of ``init(_:payload:)-(String...,_)``.
    ///   - payload: the content of the request; defaults to `nil`.
    public init(_ endpoint: [String], payload: (any APIPayload)? = nil) {
        parts = APIRequestParts(endpoint: endpoint, payload: payload)
    }

    func with(_ change: (inout APIRequestParts) -> Void) -> Self {
        var copy = self
        change(&copy.parts)
        return copy
    }
}

extension APIRequest {
    /// The URL of the server; without a server, a URL that makes the request fail before it is sent.
    public var baseURL: URL { parts.server?.url ?? ServerURL.missing }

    /// The path below the server's path.
    public var path: String { parts.path }

    /// The path with the names of values instead of the values, for metrics and traces.
    public var pathTemplate: String? { parts.pathTemplate }

    /// The method of the request; by default POST with a payload, else GET.
    public var method: HTTPMethod { parts.method }

    /// The query, the payload or task, and the credential of the request.
    public var task: RequestTask { RequestTask(APIRequestContent(parts), destination: parts.task?.destination) }

    /// The header fields of this request, `nil` if there are none.
    public var headers: [String: String]? { parts.headers.isEmpty ? nil : parts.headers }

    /// The statuses with which the request succeeds.
    public var validationType: ValidationType { parts.validation }

    /// The body with which a stub transport responds.
    public var sampleData: Data { parts.sampleData }

    /// The options of this request for plugins and transports.
    public var options: RequestOptions { parts.options }

    /// The error if the path has a `.` or `..` segment or an empty part, or if the server is missing or invalid, else
    /// `nil`.
    public var refusal: PipelineError? { parts.refusal ?? urlFailure }
}

extension APIRequest: SafelyDescribed {
    /// The method and the path, without the query.
    public var description: String { "\(parts.method) \(parts.path)" }
}

extension APIRequest: ProviderCall {}
