public import Foundation
public import HTTPTypes

/// A description of an API request, usually a case of an enum.
///
/// A provider turns a target into an ``Endpoint``, builds a ``PipelineRequest`` from it, and sends the request through
/// its plugins.
///
/// In a module that is isolated to the main actor by default, declare the extension that adds the conformance
/// `nonisolated`.
///
/// **Defaults**
///
/// | requirement | default |
/// |---|---|
/// | `headers` | `nil` |
/// | `validationType` | ``ValidationType/automatic``: every status if the call returns a response in memory, else 200 to 299 |
/// | `sampleData` | empty |
/// | `options` | empty |
/// | `pathTemplate` | `nil` |
/// | `refusal` | `nil` |
public protocol TargetType: Sendable {
    /// The method of a request, `HTTPRequest.Method` of HTTPTypes.
    ///
    /// NIOHTTP1 declares the same name; in a file that also imports it, write `Self.HTTPMethod`. An invalid method
    /// cannot be created: `HTTPMethod("GET /x\r\n")` is `nil`.
    ///
    /// Source: RFC 9110 §9.1, https://www.rfc-editor.org/rfc/rfc9110.html#section-9.1
    typealias HTTPMethod = HTTPRequest.Method

    /// The origin and, if any, the path and query that all requests of this API share.
    ///
    /// It must be an absolute http or https URL without a user name or password.
    ///
    /// ``Endpoint/url(_:)`` creates one from a literal.
    var baseURL: URL { get }

    /// The path that is appended to `baseURL`, with exactly one slash between the two.
    ///
    /// An existing `%XX` stays unchanged. Every other character that a path cannot contain is percent-encoded once,
    /// including `#`. Control characters, a `?`, and `..` segments that leave `baseURL` fail with
    /// ``PipelineError/Code-swift.struct/invalidRequest(_:)``. An absolute URL does not change the origin. Pass values
    /// that may contain slashes, question marks or escapes, such as the name of a branch, through
    /// ``Endpoint/pathSegment(_:)`` first, and send a query with ``RequestTask/requestQuery(_:encoder:)``.
    var path: String { get }

    /// The path with the names of values instead of the values, such as `/users/{id}`, for metrics and traces.
    ///
    /// It must have few distinct values and contain no secret. Begin it with a slash, and include the path of `baseURL`
    /// if it has one. It becomes `url.template` of OpenTelemetry and is not sent. `nil` if there is none.
    var pathTemplate: String? { get }

    /// The method of the request.
    var method: HTTPMethod { get }

    /// The content of the request and the destination of its response.
    var task: RequestTask { get }

    /// The header fields of the request; names are compared case-insensitively.
    ///
    /// **Secrets**: a field is marked as secret (``PipelineRequest/secretFields``) if its name matches
    /// ``Redactor/standardSecretNames`` as ``Redactor/secretNames`` describes, or if `key`, `sig` or `ticket` is a part
    /// of it. X-Api-Key and X-Auth-Token are examples. The fields in ``Redactor/standardHeaderFields`` are not marked.
    var headers: [String: String]? { get }

    /// The statuses that count as success for this target; checked after every plugin has seen the response.
    var validationType: ValidationType { get }

    /// The body of a stub's response; the status is one that the target accepts, 200 if possible.
    var sampleData: Data { get }

    /// The settings of this request for plugins and transports.
    var options: RequestOptions { get }

    /// The reason why no request can be made for this target; `nil` if one can.
    ///
    /// Return an error if the target's own input is unusable, such as an empty identifier in a path. The call fails
    /// with it before anything is sent, even if the provider's `endpoint` closure changes the URL or the task. An error
    /// about the URL itself, ``PipelineError/Code-swift.struct/invalidRequest(_:)`` with `.url`, no longer counts once
    /// the closure has set another URL.
    var refusal: PipelineError? { get }
}

extension TargetType {
    /// Always `nil`: metrics and traces show no template.
    public var pathTemplate: String? { nil }

    /// Always `nil`: the target adds no header fields.
    public var headers: [String: String]? { nil }

    /// Leaves the choice to the call: every status if it returns a response in memory, else 200 to 299.
    public var validationType: ValidationType { .automatic }

    /// An empty sample body.
    public var sampleData: Data { Data() }

    /// Options without any setting.
    public var options: RequestOptions { RequestOptions() }

    /// Always `nil`: a request can be made.
    public var refusal: PipelineError? { nil }
}
