/// A type of content that a request can carry.
///
/// ``RequestTask`` supports the usual kinds of content. For another kind, conform a type to this protocol and wrap its
/// values:
///
/// ```swift
/// var task: RequestTask { RequestTask(GraphQL(query: "{ viewer { login } }")) }
/// ```
///
/// Only ``encode(into:context:)`` has no default implementation. The other requirements describe the content before it
/// is encoded.
///
/// **Secrets**: logs and errors show only `kind`.
public protocol RequestContent: Sendable {
    /// Writes the content into the request: its body, its query or its header fields.
    ///
    /// Called once per call, before any plugin sees the request. Set a Content-Type only if the request has none.
    ///
    /// - Parameters:
    ///   - request: the request, with the target's method, URL and header fields.
    ///   - context: the source of randomness and the default encoders.
    /// - Throws: any error; the request is then not sent. An error other than ``PipelineError`` reaches the caller as
    ///   ``PipelineError/Code-swift.struct/encoding`` with the thrown error as its underlying error.
    func encode(into request: inout PipelineRequest, context: RequestTask.EncodingContext) throws

    /// The kind of content; defaults to the name of the type.
    var kind: RequestTask.Kind { get }

    /// Whether progress reports count the bytes of the request's body; defaults to `false`, which counts those of the
    /// response.
    var isUpload: Bool { get }

    /// The parameters that `encoding` writes; defaults to `nil`.
    var parameters: RequestParameters? { get }

    /// The encoding of the parameters; defaults to `nil`.
    var encoding: (any ParameterEncoding)? { get }

    /// The body if it needs no encoding: bytes, a file or a stream; defaults to `nil`.
    var body: PipelineBody? { get }

    /// Returns the content with more parameters; a parameter that it already has keeps its value.
    ///
    /// The default returns `nil`, and the parameters are added to the query.
    func adding(parameters: RequestParameters) -> Self?

    /// Returns the content with more parts at the end of its form; defaults to `nil`, for content other than a form.
    func adding(parts: [MultipartFormBodyPart]) -> Self?
}

extension RequestContent {
    /// The kind of content, named after the type.
    public var kind: RequestTask.Kind { RequestTask.Kind("\(Self.self)") }

    /// Always `false`: progress reports count the bytes of the response.
    public var isUpload: Bool { false }

    /// Always `nil`: the content has no parameters.
    public var parameters: RequestParameters? { nil }

    /// Always `nil`: the content has no parameter encoding.
    public var encoding: (any ParameterEncoding)? { nil }

    /// Always `nil`: the body is encoded when the request is made.
    public var body: PipelineBody? { nil }

    /// Returns `nil`, so the parameters are added to the query.
    public func adding(parameters: RequestParameters) -> Self? { nil }

    /// Returns `nil`, because the content is not a form.
    public func adding(parts: [MultipartFormBodyPart]) -> Self? { nil }
}
