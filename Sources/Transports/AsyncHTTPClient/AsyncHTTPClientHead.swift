#if AsyncHTTPClient
import AsyncHTTPClient
import HTTPTypes
import NIOHTTP1
import Pipeline

/// Status and header fields of an answer.
enum AsyncHTTPClientHead {
    static func makeHead(_ response: HTTPClientResponse) throws -> HTTPResponse {
        guard (200...999).contains(response.status.code) else {
            throw PipelineError(.malformedResponse, "the status is \(response.status.code)")
        }
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

    /// The length of the body that follows, `nil` when it is not announced.
    static func byteCount(of head: HTTPResponse, to method: HTTPRequest.Method) -> Int? {
        if method == .head || head.status.code == 204 || head.status.code == 304 { return 0 }
        guard !head.headerFields.contains(.transferEncoding) else { return nil }
        return head.headerFields[.contentLength].flatMap { Int($0) }
    }
}
#endif
