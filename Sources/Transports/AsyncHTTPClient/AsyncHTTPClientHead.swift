#if AsyncHTTPClient
import AsyncHTTPClient
import HTTPTypes
import NIOHTTP1
import PipelineCore

/// The status and header fields of a response.
struct AsyncHTTPClientHead {
    private(set) var response: HTTPResponse
    private var contentLength: Int?
    private var isChunked = false

    /// Converts the head in one pass.
    ///
    /// - Throws: `PipelineError` if the parser accepts the head but the length of the body remains unknown.
    ///
    /// Source: RFC 9112 §6.1, https://www.rfc-editor.org/rfc/rfc9112.html#section-6.1
    init(_ head: HTTPClientResponse, _ limits: ProviderConfiguration.Limits) throws {
        guard (200...999).contains(head.status.code) else {
            throw PipelineError(.malformedResponse, "the status is \(head.status.code)")
        }
        guard head.headers.count <= limits.headerCount else {
            throw PipelineError(
                .limit(.headerCount),
                "\(head.headers.count) header fields; limits.headerCount is \(limits.headerCount)"
            )
        }
        response = HTTPResponse(status: .init(code: Int(head.status.code)))
        response.headerFields.reserveCapacity(head.headers.count)
        for (text, value) in head.headers {
            guard let name = HTTPField.Name(text) else {
                throw PipelineError(.malformedResponse, "the name of a header field is not a token")
            }
            try noteFraming(name, value)
            response.headerFields.append(HTTPField(name: name, value: value))
        }
    }

    private mutating func noteFraming(_ name: HTTPField.Name, _ value: String) throws {
        switch name.canonicalName.utf8.count {
        case 14 where name == .contentLength:
            guard contentLength == nil, let length = Int(value) else {
                throw PipelineError(.malformedResponse, "Content-Length is not one number that fits")
            }
            contentLength = length
        case 17 where name == .transferEncoding:
            guard value == "chunked" || Self.isChunked(value) else {
                throw PipelineError(.malformedResponse, "the response has a transfer coding other than chunked")
            }
            isChunked = true
        default: break
        }
    }

    private static func isChunked(_ codings: String) -> Bool {
        codings.lowercased().split(separator: ",").allSatisfy { $0.filter { $0 != " " && $0 != "\t" } == "chunked" }
    }

    /// Whether the core may follow the response; it then reads little or nothing of the body.
    var isRedirect: Bool { (300..<400).contains(response.status.code) && response.status.code != 304 }

    /// Returns the length of the body that follows, or `nil` if it is not announced.
    func byteCount(to method: HTTPRequest.Method) -> Int? {
        if method == .head || response.status.code == 204 || response.status.code == 304 { return 0 }
        return isChunked ? nil : contentLength
    }
}
#endif
