public import Foundation

/// What a request carries.
///
/// A Content-Type is set only where the target has not set one.
public struct RequestTask: Sendable {
    /// What ``encode(into:random:)`` looks at; one case for each way of carrying something.
    enum Content: Sendable {
        case plain
        case data(Data)
        case jsonEncodable(any Encodable & Sendable, encoder: JSONEncoder?)
        case form(any Encodable & Sendable, encoder: URLFormEncoder?, destination: URLEncoding.Destination)
        case parameters(RequestParameters, any ParameterEncoding)
        case composite(body: Data, query: RequestParameters)
        case compositeParameters(RequestParameters, any ParameterEncoding, query: RequestParameters)
        case file(URL)
        case stream(PipelineBody)
        case download(RequestParameters, (any ParameterEncoding)?, DownloadDestination)
        case multipart(MultipartFormData, urlParameters: RequestParameters)
        indirect case api(APIRequestParts)
    }

    let content: Content
    /// Parameters in the query besides those of the content.
    var extraQuery: RequestParameters = [:]

    init(_ content: Content) {
        self.content = content
    }

    /// Nothing.
    public static let requestPlain = RequestTask(.plain)

    /// These bytes, without a Content-Type of their own.
    public static func requestData(_ data: Data) -> RequestTask {
        RequestTask(.data(data))
    }

    /// A value as JSON, `Content-Type: application/json`; keys are sorted, so that equal values give equal bytes.
    ///
    /// That of an ``APIRequest`` is written by the encoder of its client.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/encoding`` when the value cannot be encoded, or is nested deeper than 128
    /// levels, as a cycle of objects is.
    public static func requestJSONEncodable(_ value: any Encodable & Sendable) -> RequestTask {
        RequestTask(.jsonEncodable(value, encoder: nil))
    }

    /// Parameters, put where the encoding says.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/encoding``, with the key of the parameter that cannot be encoded.
    public static func requestParameters(
        parameters: RequestParameters,
        encoding: any ParameterEncoding
    ) -> RequestTask {
        RequestTask(.parameters(parameters, encoding))
    }

    /// These bytes, without a Content-Type of their own, and parameters in the query as ``URLEncoding/queryString`` puts them.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/encoding``, with the key of the parameter that cannot be encoded.
    public static func requestCompositeData(bodyData: Data, urlParameters: RequestParameters) -> RequestTask {
        RequestTask(.composite(body: bodyData, query: urlParameters))
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
        RequestTask(.compositeParameters(bodyParameters, bodyEncoding, query: urlParameters))
    }

    /// A body of any kind, without a Content-Type of its own.
    ///
    /// One that is a stream of unknown length is sent in chunks by transports that can. Only a body that can be replayed
    /// survives a retry or a redirect that keeps the method.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/invalidRequest(_:)`` with `body` for GET, HEAD and TRACE.
    public static func requestStream(_ body: PipelineBody) -> RequestTask {
        RequestTask(.stream(body))
    }

    /// A file as it is, without a Content-Type of its own, read in pieces as it is sent.
    ///
    /// A file whose length is 0 although it has content, as under `/proc`, is read to its end and sent as a stream of unknown length.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/file(_:)`` before anything is sent: `unreadable`, also for a URL that is not
    /// a file URL, or `directory`; ``PipelineError/Code-swift.struct/invalidRequest(_:)`` with `body` for GET, HEAD and TRACE.
    public static func uploadFile(_ url: URL) -> RequestTask {
        RequestTask(.file(url))
    }

    /// Nothing; the answer becomes a file.
    public static func downloadDestination(_ destination: DownloadDestination) -> RequestTask {
        RequestTask(.download([:], nil, destination))
    }

    /// Parameters, put where the encoding says; the answer becomes a file.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/encoding``, with the key of the parameter that cannot be encoded.
    public static func downloadParameters(
        parameters: RequestParameters,
        encoding: any ParameterEncoding,
        destination: DownloadDestination
    ) -> RequestTask {
        RequestTask(.download(parameters, encoding, destination))
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
        RequestTask(.multipart(form, urlParameters: urlParameters))
    }
}
