/// A value that a request carries, in a form of its own.
///
/// ``RequestTask`` has the usual forms. For another one, conform a type to this protocol and wrap its values:
///
/// ```swift
/// var task: RequestTask { RequestTask(GraphQL(query: "{ viewer { login } }")) }
/// ```
///
/// Only ``encode(into:context:)`` has no default. The other requirements say what can be read of the content before it is encoded.
///
/// **Secrets**: logs and errors show `kind` alone.
public protocol RequestContent: Sendable {
    /// Writes the content into the request: its body, its query or its header fields.
    ///
    /// Called once for each call, before any plugin sees the request. Set a Content-Type only if there is none.
    ///
    /// - Parameters:
    ///   - request: the request, with the target's method, URL and header fields.
    ///   - context: the source of randomness, and the encoders.
    /// - Throws: any error; nothing is sent then. One that is not a ``PipelineError`` reaches the caller as
    ///   ``PipelineError/Code-swift.struct/encoding`` with the thrown error underneath.
    func encode(into request: inout PipelineRequest, context: RequestTask.EncodingContext) throws

    /// The kind of content, by default named after the type.
    var kind: RequestTask.Kind { get }

    /// Whether progress is that of the request's body; by default it is that of the response's.
    var isUpload: Bool { get }

    /// The parameters that `encoding` writes; by default `nil`.
    var parameters: RequestParameters? { get }

    /// The encoding of the parameters; by default `nil`.
    var encoding: (any ParameterEncoding)? { get }

    /// The body if it needs no encoding: bytes, a file or a stream; by default `nil`.
    var body: PipelineBody? { get }

    /// Returns the content with more parameters, of which it keeps those that it has; by default `nil`, and they go into the query.
    func adding(parameters: RequestParameters) -> Self?

    /// Returns the content with more parts at the end of its form; by default `nil`, for content other than a form.
    func adding(parts: [MultipartFormBodyPart]) -> Self?
}

extension RequestContent {
    /// A kind with the name of the type.
    public var kind: RequestTask.Kind { RequestTask.Kind("\(Self.self)") }

    /// Not an upload.
    public var isUpload: Bool { false }

    /// No parameters.
    public var parameters: RequestParameters? { nil }

    /// No encoding.
    public var encoding: (any ParameterEncoding)? { nil }

    /// A body that is encoded when the request is made.
    public var body: PipelineBody? { nil }

    /// No content with more parameters.
    public func adding(parameters: RequestParameters) -> Self? { nil }

    /// No content with more parts.
    public func adding(parts: [MultipartFormBodyPart]) -> Self? { nil }
}
