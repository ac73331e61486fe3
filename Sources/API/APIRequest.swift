public import Foundation
public import Pipeline

/// What to ask of an API and what its answer decodes to, as one value that modifiers change.
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
/// It is a target as any other: an ``APIClient`` sends it, and so does any `Provider<MultiTarget>` when it has a server of its
/// own. Each modifier gives a copy; nothing is sent by making or changing one.
///
/// The answer decodes by the type: ``IgnoredBody`` from whatever there is, `Data` to the body as it is, `String`, `Bool` and
/// numbers from the body as text, every other type from JSON. An optional type is `nil` of an empty body, as one with status 204
/// is, and of `null`, save `Data?`; else it is what its type is.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `method` | POST with a payload, else GET |
/// | `desiredStatusCode` | 200 alone |
/// | `serverURL` | that of the client |
/// | dates | those of the client, ISO 8601 without one |
/// | plugins | those of the provider; a setting for another plugin is reported, see `UnhandledOptionPolicy` |
/// | `attemptTimeout` | none |
///
/// **Errors**
///
/// | code | when |
/// |---|---|
/// | `unacceptableStatus` | any other status than the desired ones; with the response |
/// | `encoding` | the query or the payload cannot be encoded; nothing is sent |
/// | `invalidRequest.option` | a setting is for a plugin that the provider lacks, if its policy is `.fail`; nothing is sent |
/// | `invalidRequest` | there is no server, or a field, a credential or the URL cannot be sent; nothing is sent |
/// | `invalidRequest.path` | the endpoint has `.` or `..` between slashes, or an empty part after its first; nothing is sent |
/// | `invalidRequest.body` | a payload, a file or a stream with a method that has no body, such as GET; nothing is sent |
/// | `file` | a file that is to be sent cannot be read |
/// | `bodyChanged` | a file of a form has another length than when the call began |
/// | `limit` | the answer's body has more than `PipelineLimits.bufferedBodyByteCount` |
/// | `mapping` | the answer does not decode; with the response |
///
/// In a module that is isolated to the main actor by default, models of answers and queries are `nonisolated`; payloads need
/// nothing.
///
/// **Secrets**: its description shows the method and the path alone.
public struct APIRequest<Output: Decodable & Sendable>: DecodableTargetType, AccessTokenAuthorizable,
    OptionsModifying
{
    /// What the answer decodes to.
    public typealias ResultType = Output

    var parts: APIRequestParts

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - endpoint: the path below the path of the server, in parts that are joined by one slash each. If there is one part, a
    ///     query may follow a question mark; if there are several, a question mark belongs to the path. Slashes within a part
    ///     and `%` with two hexadecimal digits are sent unchanged.
    ///   - payload: the content of the request.
    public init(_ endpoint: String..., payload: (any APIPayload)? = nil) {
        parts = APIRequestParts(endpoint: endpoint, payload: payload)
    }

    /// Creates a request from the parts of a path that are known at run time only.
    ///
    /// - Parameters:
    ///   - endpoint: the parts of the path, which are joined as those of ``init(_:payload:)-(String...,_)``.
    ///   - payload: the content of the request.
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
    /// The server; without one a URL that is refused when the request is made.
    public var baseURL: URL { parts.server?.url ?? ServerURL.missing }

    /// The path below the server's.
    public var path: String { parts.path }

    /// The method.
    public var method: HTTPMethod { parts.method }

    /// Query, payload and credential.
    public var task: RequestTask { RequestTask(APIRequestContent(parts), destination: parts.task?.destination) }

    /// The header fields of this request.
    public var headers: [String: String]? { parts.headers.isEmpty ? nil : parts.headers }

    /// The desired statuses.
    public var validationType: ValidationType { parts.validation }

    /// What a stub answers.
    public var sampleData: Data { parts.sampleData }

    /// Typed settings for plugins and transports.
    public var options: RequestOptions { parts.options }

    /// What is wrong with the path: `.`, `..` or an empty part.
    public var refusal: PipelineError? { parts.refusal }
}

extension APIRequest: SafelyDescribed {
    /// The method and the path.
    public var description: String { "\(parts.method) \(parts.path)" }
}
