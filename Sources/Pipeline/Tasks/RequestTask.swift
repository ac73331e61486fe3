public import Foundation

/// What a request carries.
///
/// A Content-Type is set only where the target has not set one.
public struct RequestTask: Sendable {
    /// What ``encode(into:random:)`` looks at; one case for each way of carrying something.
    enum Kind: Sendable {
        case plain
        case data(Data)
        case jsonEncodable(any Encodable & Sendable)
        case parameters(RequestParameters, any ParameterEncoding)
        case multipart(MultipartFormData, urlParameters: RequestParameters)
    }

    let kind: Kind

    /// Nothing.
    public static let requestPlain = RequestTask(kind: .plain)

    /// These bytes, without a Content-Type of their own.
    public static func requestData(_ data: Data) -> RequestTask {
        RequestTask(kind: .data(data))
    }

    /// A value as JSON, `Content-Type: application/json`; keys are sorted, so that equal values give equal bytes.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/encoding`` when the value cannot be encoded.
    public static func requestJSONEncodable(_ value: any Encodable & Sendable) -> RequestTask {
        RequestTask(kind: .jsonEncodable(value))
    }

    /// Parameters, put where the encoding says.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/encoding``, with the key of the parameter that cannot be encoded.
    public static func requestParameters(
        parameters: RequestParameters,
        encoding: any ParameterEncoding
    ) -> RequestTask {
        RequestTask(kind: .parameters(parameters, encoding))
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
        RequestTask(kind: .multipart(form, urlParameters: urlParameters))
    }
}
