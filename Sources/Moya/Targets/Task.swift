public import Foundation
import PipelineCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

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

extension Task {
    /// Writes the body and the parameters into a request; files and forms are added when the request is sent.
    func write(into request: inout URLRequest) throws(MoyaError) {
        switch self {
        case .requestPlain, .uploadFile, .uploadMultipartFormData, .uploadMultipart, .downloadDestination:
            break
        case .requestData(let data):
            request.httpBody = data
        case .requestJSONEncodable(let value):
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            try request.write(value, with: encoder)
        case .requestCustomJSONEncodable(let value, let encoder):
            try request.write(value, with: encoder.sortingKeys)
        case .requestParameters(let parameters, let encoding), .downloadParameters(let parameters, let encoding, _):
            try request.write(parameters, with: encoding)
        case .requestCompositeData(let data, let urlParameters):
            request.httpBody = data
            try request.write(urlParameters, with: URLEncoding.queryString)
        case .requestCompositeParameters(let parameters, let encoding, let urlParameters):
            if let encoding = encoding as? URLEncoding, encoding.destination != .httpBody {
                let reason = "bodyEncoding writes to the query; pass URLEncoding.httpBody"
                throw .parameterEncoding(PipelineError(.encoding, reason))
            }
            try request.write(parameters, with: encoding)
            try request.write(urlParameters, with: URLEncoding.queryString)
        case .uploadCompositeMultipartFormData(_, let urlParameters), .uploadCompositeMultipart(_, let urlParameters):
            try request.write(urlParameters, with: URLEncoding.queryString)
        }
    }

    /// The form of an upload; `nil` for other tasks.
    var form: MultipartFormData? {
        switch self {
        case .uploadMultipartFormData(let form), .uploadCompositeMultipartFormData(let form, _): form
        case .uploadMultipart(let parts), .uploadCompositeMultipart(let parts, _): MultipartFormData(parts: parts)
        default: nil
        }
    }

    /// The destination of a download; `nil` for other tasks.
    var destination: DownloadDestination? {
        switch self {
        case .downloadDestination(let destination), .downloadParameters(_, _, let destination): destination
        default: nil
        }
    }

    /// The file of an upload; `nil` for other tasks.
    var file: URL? {
        if case .uploadFile(let file) = self { file } else { nil }
    }

    /// Makes the native task that sends the body of an encoded request.
    func native(_ request: URLRequest) throws(MoyaError) -> RequestTask {
        if let form {
            guard !form.parts.isEmpty, request.httpMethod.map(Method.init(rawValue:))?.supportsMultipart == true else {
                let reason = "a multipart form needs at least one part and the method POST, PUT, PATCH or CONNECT"
                throw .underlying(PipelineError(.encoding, reason), nil)
            }
            return .uploadMultipartFormData(form.native)
        }
        if let file { return .uploadFile(file) }
        if let destination {
            return RequestTask(EncodedBody(data: request.httpBody), destination: .moya(destination))
        }
        return request.httpBody.map { .requestData($0) } ?? .requestPlain
    }
}

/// A body that was encoded before the call began.
private struct EncodedBody: RequestContent {
    let data: Data?

    func encode(into request: inout PipelineRequest, context: RequestTask.EncodingContext) {
        if let data { request.body = .bytes(data) }
    }
}

extension JSONEncoder {
    /// An encoder with the same strategies that sorts keys, so that equal values have equal bytes.
    ///
    /// A subclass is used as it is, and so is an encoder that sorts keys.
    fileprivate var sortingKeys: JSONEncoder {
        guard type(of: self) == JSONEncoder.self, !outputFormatting.contains(.sortedKeys) else { return self }
        let copy = JSONEncoder()
        copy.outputFormatting = outputFormatting.union(.sortedKeys)
        copy.dateEncodingStrategy = dateEncodingStrategy
        copy.dataEncodingStrategy = dataEncodingStrategy
        copy.nonConformingFloatEncodingStrategy = nonConformingFloatEncodingStrategy
        copy.keyEncodingStrategy = keyEncodingStrategy
        copy.userInfo = userInfo
        return copy
    }
}

extension URLRequest {
    fileprivate mutating func write(_ value: any Encodable, with encoder: JSONEncoder) throws(MoyaError) {
        do {
            httpBody = try encoder.encode(value)
        } catch {
            throw .encodableMapping(error)
        }
        setContentTypeIfAbsent("application/json")
    }

    fileprivate mutating func write(
        _ parameters: [String: Any],
        with encoding: any ParameterEncoding
    ) throws(MoyaError) {
        do {
            self = try encoding.encode(self, with: parameters)
        } catch {
            throw .parameterEncoding(error)
        }
    }

    mutating func setContentTypeIfAbsent(_ value: String) {
        if self.value(forHTTPHeaderField: "Content-Type") == nil { setValue(value, forHTTPHeaderField: "Content-Type") }
    }
}

/// A closure that decides where a download is saved, given the complete temporary file and the response.
///
/// It runs only for a response with a status of 200 to 299.
@available(swift, deprecated: 7, message: "Use DownloadDestination of Pipeline.")
public typealias DownloadDestination = DownloadRequest.Destination

/// The names that belong to a download.
@available(swift, deprecated: 7, message: "Use DownloadDestination of Pipeline.")
public enum DownloadRequest {
    /// A closure that decides where a download is saved.
    public typealias Destination =
        @Sendable (
            _ temporaryURL: URL, _ response: HTTPURLResponse
        ) -> (destinationURL: URL, options: Options)

    /// Options for saving the file at its destination.
    public struct Options: OptionSet, Sendable {
        /// The raw bits of the option set.
        public let rawValue: Int

        /// Creates options from their raw bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Creates missing directories on the path to the destination.
        public static let createIntermediateDirectories = Options(rawValue: 1)
        /// Replaces an existing file at the destination.
        public static let removePreviousFile = Options(rawValue: 2)
    }
}

extension PipelineCore.DownloadDestination {
    static func moya(_ destination: @escaping DownloadRequest.Destination) -> Self {
        .custom { file, response in
            guard let head = response.httpURLResponse else {
                throw PipelineError(.malformedResponse, "the response has no URL for a download destination")
            }
            let (url, options) = destination(file, head)
            return (url, Options(rawValue: options.rawValue))
        }
    }
}
