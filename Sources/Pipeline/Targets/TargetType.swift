public import Foundation
public import HTTPTypes

/// A description of what to ask of an API, usually a case of an enum.
///
/// A provider turns a target into an ``Endpoint``, that into a ``PipelineRequest``, and sends it through its plugins.
///
/// In a module that is isolated to the main actor by default, an extension that adds the conformance is `nonisolated`.
///
/// **Defaults**
///
/// | requirement | default |
/// |---|---|
/// | `headers` | `nil` |
/// | `validationType` | `.anyStatus`: any status is a response |
/// | `sampleData` | empty |
/// | `options` | empty |
/// | `refusal` | `nil` |
public protocol TargetType: Sendable {
    /// The method of a request, `HTTPRequest.Method` of HTTPTypes.
    ///
    /// The name belongs to targets: in a file that also imports NIOHTTP1, write `Self.HTTPMethod`. A value that is not a
    /// token cannot be made: `HTTPMethod("GET /x\r\n")` is `nil`.
    ///
    /// Source: RFC 9110 §9.1, https://www.rfc-editor.org/rfc/rfc9110.html#section-9.1
    typealias HTTPMethod = HTTPRequest.Method

    /// The origin and, if any, the path and query that all requests of this API share.
    ///
    /// It must be absolute, http or https, and carry no user name or password.
    ///
    /// ``Endpoint/url(_:)`` makes one from a literal.
    var baseURL: URL { get }

    /// The path below `baseURL`; exactly one slash ends up between the two.
    ///
    /// It is a path and nothing else: `%XX` stays as written, every other character that may not stand in a path is
    /// percent-encoded once, `?` and `#` among them. Control characters are refused with
    /// ``PipelineError/Code-swift.struct/invalidRequest(_:)``. An absolute URL here does not change the origin. A value that may
    /// contain slashes or escapes, such as the name of a branch, goes through ``Endpoint/pathSegment(_:)`` first.
    var path: String { get }

    /// The method.
    var method: HTTPMethod { get }

    /// What the request carries.
    var task: RequestTask { get }

    /// Header fields of the request; names are compared without case.
    ///
    /// **Secrets**: a field is marked as secret, ``PipelineRequest/secretFields``, if its name matches ``Redactor/standardSecretNames`` as
    /// ``Redactor/secretNames`` describes, or if `key`, `sig` or `ticket` is a part of it: X-Api-Key and X-Auth-Token, for example. Those in
    /// ``Redactor/standardHeaderFields`` are not.
    var headers: [String: String]? { get }

    /// Which statuses count as success for this target; checked last, after every plugin.
    var validationType: ValidationType { get }

    /// The body with which a stub answers (status 200).
    var sampleData: Data { get }

    /// Typed per-request settings for plugins and transports.
    var options: RequestOptions { get }

    /// The reason why no request can be made of this target; `nil` if one can.
    ///
    /// For a target that finds its own input unusable, such as an empty identifier in a path. The call fails with the error before
    /// anything is sent, also when the provider's `endpoint` closure changes the URL or the task.
    var refusal: PipelineError? { get }
}

extension TargetType {
    /// No header fields.
    public var headers: [String: String]? { nil }

    /// Any status is a response.
    public var validationType: ValidationType { .anyStatus }

    /// An empty body.
    public var sampleData: Data { Data() }

    /// No settings.
    public var options: RequestOptions { RequestOptions() }

    /// No reason against a request.
    public var refusal: PipelineError? { nil }
}
