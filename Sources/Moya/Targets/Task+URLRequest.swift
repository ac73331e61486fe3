import Foundation
import PipelineCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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

    /// Whether the body is a file or a form, which are not in the `URLRequest`.
    var hasOwnBody: Bool { file != nil || form != nil }

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
