import Foundation
import HTTPTypes
import Pipeline

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension PipelineRequest {
    /// Makes a request from the method, the URL, the header fields, the body and the timeout of a `URLRequest`.
    init(_ request: URLRequest) throws {
        guard let method = HTTPRequest.Method(rawValue: request.httpMethod ?? "GET") else {
            throw MoyaError.requestMapping(request.url?.absoluteString ?? "")
        }
        let body = request.httpBody.map { PipelineBody.bytes($0) } ?? .absent
        try self.init(method, url: request.url?.absoluteString ?? "", body: body)
        for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
            try setHeader(value, for: name, isSecret: HTTPField.Name(name).map(Redactor.soundsSecret) ?? false)
        }
        attemptTimeout = request.ownTimeout
    }
}

extension URLRequest {
    /// The timeout, if it is not the default.
    var ownTimeout: Duration? {
        timeoutInterval == 60 || timeoutInterval <= 0 ? nil : .seconds(timeoutInterval)
    }
}

extension [String: String] {
    /// The header fields with the values of secret ones hidden.
    var redacted: [String: String] {
        var fields = HTTPFields()
        for (name, value) in self {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        let shown = Redactor.standard.fields(fields) { Redactor.soundsSecret($0) }
        return Dictionary(shown.map { ($0.name, $0.value) }) { $1 }
    }
}

extension PipelineResponse {
    /// The status and the header fields as Foundation's type; `nil` if the request has no URL.
    var httpURLResponse: HTTPURLResponse? {
        guard let url = request.url else { return nil }
        let fields = headers.map { ($0.name.rawName, $0.value) }
        return HTTPURLResponse(
            url: url,
            statusCode: statusCode,
            httpVersion: "HTTP/1.1",
            headerFields: Dictionary(fields) { "\($0), \($1)" }
        )
    }
}

extension Response {
    convenience init(_ response: PipelineResponse, to request: URLRequest) {
        self.init(
            statusCode: response.statusCode,
            data: response.data,
            request: request,
            response: response.httpURLResponse
        )
    }
}
