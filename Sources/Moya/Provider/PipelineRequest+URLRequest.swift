import Foundation
import HTTPTypes
import PipelineCore

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
        for (name, value) in request.sentFields.sorted(by: { $0.key < $1.key }) {
            try setHeader(value, for: name, isSecret: HTTPField.Name(name).map(Redactor.soundsSecret) ?? false)
        }
        idleTimeout = request.ownTimeout
    }
}

extension URLRequest {
    /// The header fields without white space around the values, which is not part of a value (RFC 9110 §5.5).
    ///
    /// A field such as "Bearer " without a token ends with a space.
    var sentFields: [String: String] {
        (allHTTPHeaderFields ?? [:]).mapValues { value in
            let isWhiteSpace = { (byte: UInt8?) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
            // Trimming takes microseconds, and hardly any value needs it.
            guard isWhiteSpace(value.utf8.first) || isWhiteSpace(value.utf8.last) else { return value }
            return value.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
        }
    }

    /// The timeout, if it is neither the default nor endless.
    var ownTimeout: Duration? {
        timeoutInterval == 60 || !(0...1e9).contains(timeoutInterval) || timeoutInterval == 0
            ? nil : .seconds(timeoutInterval)
    }

    /// What is sent of a request: method, URL, header fields, body and timeout.
    ///
    /// On some platforms, equality of `URLRequest` ignores header fields and the body.
    var content: [AnyHashable?] {
        [httpMethod, url?.absoluteString, allHTTPHeaderFields ?? [:], httpBody, timeoutInterval]
    }
}

extension Redactor {
    /// A redactor for logs of an app: it shows everything but fields and query items whose names are secret.
    static func hidingSecrets(in names: some Sequence<HTTPField.Name>) -> Redactor {
        var redactor = Redactor.development
        redactor.shownHeaderFields.formUnion(names)
        return redactor
    }

    /// Returns header fields with the values of secret ones hidden.
    static func hidingSecrets(in fields: [String: String]) -> [String: String] {
        var list = HTTPFields()
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { list[name] = value }
        }
        let shown = hidingSecrets(in: list.map(\.name)).fields(list) { Redactor.soundsSecret($0) }
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
