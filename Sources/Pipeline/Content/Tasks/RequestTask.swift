public import Foundation

/// What a request carries.
///
/// A Content-Type is set only where the target has not set one.
public struct RequestTask: Sendable, SafelyDescribed {
    /// What is written into the request before ``urlParameters``; `nil` for nothing.
    let content: (any RequestContent)?
    /// The parameters that the task adds to the query as ``URLEncoding/queryString`` does, besides ``parameters``.
    public private(set) var urlParameters: RequestParameters
    /// Where the response is put, `nil` unless it becomes a file.
    public let destination: DownloadDestination?
    /// Of a task that is named after more than its content.
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

    /// Makes a task of content of any kind, also of a type of your own.
    ///
    /// - Parameters:
    ///   - content: what the request carries.
    ///   - urlParameters: parameters that are added to the query as ``URLEncoding/queryString`` does.
    ///   - destination: where the response is put; `nil` keeps it in memory.
    public init(
        _ content: any RequestContent,
        urlParameters: RequestParameters = [:],
        destination: DownloadDestination? = nil
    ) {
        self.init(content, urlParameters: urlParameters, destination: destination, kind: nil)
    }

    /// The way in which the task carries its content.
    public var kind: Kind { ownKind ?? content?.kind ?? .plain }

    /// The same task with other content.
    func replacing(content: any RequestContent) -> RequestTask {
        RequestTask(content, urlParameters: urlParameters, destination: destination, kind: ownKind)
    }

    /// The same task with more parameters in its query, of which it keeps those that it has.
    func adding(urlParameters new: RequestParameters) -> RequestTask {
        var copy = self
        copy.urlParameters.merge(new) { own, _ in own }
        return copy
    }
}

extension RequestTask {
    /// Nothing.
    public static let requestPlain = RequestTask(nil, kind: nil)

    /// These bytes, without a Content-Type of their own.
    public static func requestData(_ data: Data) -> RequestTask {
        RequestTask(BodyContent.data(data))
    }

    /// A value as JSON, `Content-Type: application/json`; keys are sorted, so that equal values give equal bytes.
    ///
    /// ``EncodingContext/makeJSONEncoder`` makes the encoder.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/encoding`` when the value cannot be encoded, or is nested deeper than 128
    /// levels, as a cycle of objects is.
    public static func requestJSONEncodable(_ value: any Encodable & Sendable) -> RequestTask {
        RequestTask(JSONContent(value: value, encoder: nil))
    }

    /// Parameters, put where the encoding says.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/encoding``, with the key of the parameter that cannot be encoded.
    public static func requestParameters(
        parameters: RequestParameters,
        encoding: any ParameterEncoding
    ) -> RequestTask {
        RequestTask(ParametersContent(own: parameters, writer: encoding))
    }

    /// These bytes, without a Content-Type of their own, and parameters in the query as ``URLEncoding/queryString`` puts them.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/encoding``, with the key of the parameter that cannot be encoded.
    public static func requestCompositeData(bodyData: Data, urlParameters: RequestParameters) -> RequestTask {
        RequestTask(BodyContent.data(bodyData), urlParameters: urlParameters, kind: .composite)
    }

    /// Parameters in the body, and others in the query as ``URLEncoding/queryString`` puts them.
    ///
    /// With ``URLEncoding/default`` the body is a form for every method, also for DELETE.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/encoding``, with the key of the parameter that cannot be encoded, or if the
    /// encoding of the body writes to the URL; ``PipelineError/Code-swift.struct/invalidRequest(_:)`` with `body` for GET, HEAD and
    /// TRACE.
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

    /// A body of any kind, without a Content-Type of its own.
    ///
    /// One that is a stream of unknown length is sent in chunks by transports that can. Only a body that can be replayed
    /// survives a retry or a redirect that keeps the method.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/invalidRequest(_:)`` with `body` for GET, HEAD and TRACE.
    public static func requestStream(_ body: PipelineBody) -> RequestTask {
        RequestTask(BodyContent.stream(body))
    }

    /// A file as it is, without a Content-Type of its own, read in pieces as it is sent.
    ///
    /// A file whose length is 0 although it has content, as under `/proc`, is read to its end and sent as a stream of unknown length.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/file(_:)`` before anything is sent: `unreadable`, also for a URL that is not
    /// a file URL, or `directory`; ``PipelineError/Code-swift.struct/invalidRequest(_:)`` with `body` for GET, HEAD and TRACE.
    public static func uploadFile(_ url: URL) -> RequestTask {
        RequestTask(BodyContent.file(url))
    }

    /// Nothing; the answer becomes a file.
    public static func downloadDestination(_ destination: DownloadDestination) -> RequestTask {
        RequestTask(nil, destination: destination, kind: .download)
    }

    /// Parameters, put where the encoding says; the answer becomes a file.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/encoding``, with the key of the parameter that cannot be encoded.
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

    /// A form of several parts, `Content-Type: multipart/form-data`, which replaces one of the target's own.
    ///
    /// **Errors**: those of ``MultipartFormData``; ``PipelineError/Code-swift.struct/invalidRequest(_:)`` for a method that
    /// carries no body (GET, HEAD, TRACE).
    public static func uploadMultipartFormData(_ form: MultipartFormData) -> RequestTask {
        uploadCompositeMultipartFormData(form, urlParameters: [:])
    }

    /// A form of several parts as ``uploadMultipartFormData(_:)``, and parameters in the query by
    /// ``URLEncoding/queryString``.
    public static func uploadCompositeMultipartFormData(
        _ form: MultipartFormData,
        urlParameters: RequestParameters
    ) -> RequestTask {
        RequestTask(MultipartContent(form: form), urlParameters: urlParameters)
    }
}
