#if AsyncHTTPClient
import AsyncHTTPClient
import HTTPTypes
import NIOHTTP1
import Pipeline

/// Status and header fields of an answer.
enum AsyncHTTPClientHead {
    static func makeHead(_ response: HTTPClientResponse, _ limits: PipelineLimits) throws -> HTTPResponse {
        guard (200...999).contains(response.status.code) else {
            throw PipelineError(.malformedResponse, "the status is \(response.status.code)")
        }
        guard response.headers.count <= limits.headerCount else {
            throw PipelineError(
                .limit(.headerCount),
                "\(response.headers.count) header fields, \(limits.headerCount) allowed"
            )
        }
        try checkFraming(response.headers)
        var fields = HTTPFields()
        fields.reserveCapacity(response.headers.count)
        for (text, value) in response.headers {
            guard let name = HTTPField.Name(text) else {
                throw PipelineError(.malformedResponse, "the name of a header field is not a token")
            }
            fields.append(HTTPField(name: name, value: value))
        }
        return HTTPResponse(status: .init(code: Int(response.status.code)), headerFields: fields)
    }

    /// What the parser lets pass, though nobody can say how long the body is.
    ///
    /// Source: RFC 9112 §6.1, https://www.rfc-editor.org/rfc/rfc9112.html#section-6.1
    private static func checkFraming(_ fields: HTTPHeaders) throws {
        guard fields[canonicalForm: "content-length"].allSatisfy({ Int($0) != nil }) else {
            throw PipelineError(.malformedResponse, "Content-Length is not a number that fits")
        }
        guard fields[canonicalForm: "transfer-encoding"].allSatisfy({ $0.lowercased() == "chunked" }) else {
            throw PipelineError(.malformedResponse, "the answer has a transfer coding that nobody asked for")
        }
    }

    /// Whether the core may follow the response, and then needs little of its body or nothing.
    static func isRedirect(_ head: HTTPResponse) -> Bool {
        (300..<400).contains(head.status.code) && head.status.code != 304
    }

    /// The length of the body that follows, `nil` when it is not announced.
    static func byteCount(of head: HTTPResponse, to method: HTTPRequest.Method) -> Int? {
        if method == .head || head.status.code == 204 || head.status.code == 304 { return 0 }
        guard !head.headerFields.contains(.transferEncoding) else { return nil }
        return head.headerFields[.contentLength].flatMap { Int($0) }
    }
}
#endif
