public import Foundation

/// The content of a request and the destination of its response.
///
/// A Content-Type is set only if the target has not set one, except for multipart forms, which replace it.
@available(swift, deprecated: 7, message: "Use RequestTask.")
public enum Task {
    /// A request without a body and without parameters.
    case requestPlain

    /// A request with bytes as its body.
    case requestData(Data)

    /// A request with a value as JSON in its body.
    case requestJSONEncodable(any Encodable)

    /// A request with a value as JSON in its body, encoded by the given encoder.
    ///
    /// Keys are sorted, so that equal values have equal bytes, unless the encoder is of a subclass.
    case requestCustomJSONEncodable(any Encodable, encoder: JSONEncoder)

    /// A request with parameters in the place that the encoding chooses.
    case requestParameters(parameters: [String: Any], encoding: any ParameterEncoding)

    /// A request with bytes as its body and parameters in its query.
    case requestCompositeData(bodyData: Data, urlParameters: [String: Any])

    /// A request with parameters in its body and others in its query.
    ///
    /// A ``URLEncoding`` of the body must be ``URLEncoding/httpBody``.
    case requestCompositeParameters(
        bodyParameters: [String: Any],
        bodyEncoding: any ParameterEncoding,
        urlParameters: [String: Any]
    )

    /// A request with a file as its body.
    case uploadFile(URL)

    /// A request with a multipart form as its body.
    case uploadMultipartFormData(MultipartFormData)

    /// A request with a multipart form as its body; use `uploadMultipartFormData(_:)` in new code.
    case uploadMultipart([MultipartFormBodyPart])

    /// A request with a multipart form as its body and parameters in its query.
    case uploadCompositeMultipartFormData(MultipartFormData, urlParameters: [String: Any])

    /// A request with a multipart form as its body and parameters in its query; use
    /// `uploadCompositeMultipartFormData(_:urlParameters:)` in new code.
    case uploadCompositeMultipart([MultipartFormBodyPart], urlParameters: [String: Any])

    /// A request whose response is saved as a file.
    case downloadDestination(DownloadDestination)

    /// A request with parameters in the place that the encoding chooses, whose response is saved as a file.
    case downloadParameters(
        parameters: [String: Any],
        encoding: any ParameterEncoding,
        destination: DownloadDestination
    )
}

extension Task {
    /// A request with the parts of all forms as its body, as in Moya 15.0.
    @_disfavoredOverload
    public static func uploadMultipart(_ forms: [MultipartFormData]) -> Task {
        uploadMultipart(forms.flatMap(\.parts))
    }

    /// A request with the parts of all forms as its body and parameters in its query, as in Moya 15.0.
    @_disfavoredOverload
    public static func uploadCompositeMultipart(
        _ forms: [MultipartFormData],
        urlParameters: [String: Any]
    ) -> Task {
        uploadCompositeMultipart(forms.flatMap(\.parts), urlParameters: urlParameters)
    }
}
