public import Foundation

/// The content of a request and the destination of its response.
///
/// A Content-Type is set only if the target has not set one, except for multipart forms, which replace it.
public struct RequestTask: Sendable, SafelyDescribed {
    /// The content, which is written into the request before ``urlParameters``; `nil` if there is none.
    let content: (any RequestContent)?
    /// The parameters that the task adds to the query as ``URLEncoding/queryString`` does, in addition to
    /// ``parameters``.
    public private(set) var urlParameters: RequestParameters
    /// Where the response is saved as a file; `nil` keeps it in memory.
    public let destination: DownloadDestination?
    /// The kind of a task that its content alone does not determine.
    private let ownKind: Kind?

    private init(
        _ content: (any RequestContent)?,
        urlParameters: RequestParameters = [:],
        destination: DownloadDestination? = nil,
        kind: Kind?
    ) {
        self.content = content
        self.urlParameters = urlParameters
        self.destination = destination
        ownKind = kind
    }

    /// Creates a task with content of any type, including your own.
    ///
    /// - Parameters:
    ///   - content: the content of the request.
    ///   - urlParameters: the parameters that are added to the query as ``URLEncoding/queryString`` does.
    ///   - destination: where the response is saved; `nil` keeps it in memory.
    public init(
        _ content: any RequestContent,
        urlParameters: RequestParameters = [:],
        destination: DownloadDestination? = nil
    ) {
        self.init(content, urlParameters: urlParameters, destination: destination, kind: nil)
    }

    /// The kind of content that the task carries.
    public var kind: Kind { ownKind ?? content?.kind ?? .plain }

    /// The kind of task, without its content.
    public var description: String { kind.description }

    /// Returns a copy with other content.
    func replacing(content: any RequestContent) -> RequestTask {
        RequestTask(content, urlParameters: urlParameters, destination: destination, kind: ownKind)
    }

    /// Returns a copy with more parameters in its query; a parameter that it already has keeps its value.
    func adding(urlParameters new: RequestParameters) -> RequestTask {
        var copy = self
        copy.urlParameters.merge(new) { own, _ in own }
        return copy
    }
}

extension RequestTask {
    /// A task without a body and without parameters.
    public static let requestPlain = RequestTask(nil, kind: nil)

    /// Creates a task that sends bytes as the body and sets no Content-Type.
    public static func requestData(_ data: Data) -> RequestTask {
        RequestTask(BodyContent.data(data))
    }

    /// Creates a task that sends a value as JSON, with `Content-Type: application/json`.
    ///
    /// Keys are sorted, so that equal values encode to equal bytes.
    ///
    /// The encoder comes from ``EncodingContext/makeJSONEncoder``.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/encoding`` if the value cannot be encoded or is nested deeper than
    /// 128 levels, as a cycle of objects is.
    public static func requestJSONEncodable(_ value: any Encodable & Sendable) -> RequestTask {
        RequestTask(JSONContent(value: value, encoder: nil))
    }

    /// Creates a task that sends parameters in the place that the encoding chooses.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/encoding`` with the key of the parameter that cannot be encoded.
    public static func requestParameters(
        parameters: RequestParameters,
        encoding: any ParameterEncoding
    ) -> RequestTask {
        RequestTask(ParametersContent(own: parameters, writer: encoding))
    }

    /// Creates a task that sends bytes as the body, and parameters in the query as ``URLEncoding/queryString`` writes
    /// them.
    ///
    /// No Content-Type is set.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/encoding`` with the key of the parameter that cannot be encoded.
    public static func requestCompositeData(bodyData: Data, urlParameters: RequestParameters) -> RequestTask {
        RequestTask(BodyContent.data(bodyData), urlParameters: urlParameters, kind: .composite)
    }

    /// Creates a task that sends parameters in the body, and others in the query as ``URLEncoding/queryString`` writes
    /// them.
    ///
    /// With ``URLEncoding/default``, the body is a form for every method, including DELETE.
    ///
    /// **Errors**
    /// - ``PipelineError/Code-swift.struct/encoding`` with the key of the parameter that cannot be encoded, or if the
    ///   encoding of the body writes to the URL.
    /// - ``PipelineError/Code-swift.struct/invalidRequest(_:)`` with `body` for GET, HEAD and TRACE.
    public static func requestCompositeParameters(
        bodyParameters: RequestParameters,
        bodyEncoding: any ParameterEncoding,
        urlParameters: RequestParameters
    ) -> RequestTask {
        RequestTask(
            ParametersContent(own: bodyParameters, writer: bodyEncoding, isBody: true),
            urlParameters: urlParameters,
            kind: .composite
        )
    }

    /// Creates a task that sends a body of any kind and sets no Content-Type.
    ///
    /// A stream of unknown length is sent in chunks if the transport supports it. A retry, or a redirect that keeps the
    /// method, requires a body that can be replayed.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/invalidRequest(_:)`` with `body` for GET, HEAD and TRACE.
    public static func requestStream(_ body: PipelineBody) -> RequestTask {
        RequestTask(BodyContent.stream(body))
    }

    /// Creates a task that sends a file unchanged, sets no Content-Type, and reads the file in pieces while it is sent.
    ///
    /// A file that reports a length of 0 but has content, as under `/proc`, is read to its end and sent as a stream of
    /// unknown length.
    ///
    /// **Errors**, before anything is sent
    /// - ``PipelineError/Code-swift.struct/file(_:)`` with `unreadable`, also for a URL that is not a file URL, or
    ///   `directory`.
    /// - ``PipelineError/Code-swift.struct/invalidRequest(_:)`` with `body` for GET, HEAD and TRACE.
    public static func uploadFile(_ url: URL) -> RequestTask {
        RequestTask(BodyContent.file(url))
    }

    /// Creates a task that sends no body and saves the response as a file.
    public static func downloadDestination(_ destination: DownloadDestination) -> RequestTask {
        RequestTask(nil, destination: destination, kind: .download)
    }

    /// Creates a task that sends parameters in the place that the encoding chooses, and saves the response as a file.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/encoding`` with the key of the parameter that cannot be encoded.
    public static func downloadParameters(
        parameters: RequestParameters,
        encoding: any ParameterEncoding,
        destination: DownloadDestination
    ) -> RequestTask {
        RequestTask(
            ParametersContent(own: parameters, writer: encoding),
            destination: destination,
            kind: .download
        )
    }

    /// Creates a task that sends a multipart form, with `Content-Type: multipart/form-data`, which replaces the
    /// target's own.
    ///
    /// **Errors**: the same as for ``MultipartFormData``; ``PipelineError/Code-swift.struct/invalidRequest(_:)`` for a
    /// method that has no body (GET, HEAD, TRACE).
    public static func uploadMultipartFormData(_ form: MultipartFormData) -> RequestTask {
        uploadCompositeMultipartFormData(form, urlParameters: [:])
    }

    /// Creates a task that sends a multipart form, and parameters in the query as ``URLEncoding/queryString`` writes
    /// them.
    public static func uploadCompositeMultipartFormData(
        _ form: MultipartFormData,
        urlParameters: RequestParameters
    ) -> RequestTask {
        RequestTask(MultipartContent(form: form), urlParameters: urlParameters)
    }
}
