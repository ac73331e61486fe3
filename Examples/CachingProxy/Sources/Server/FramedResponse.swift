import Foundation
import NIOHTTP1
import Pipeline

/// The head of a response as it is sent: with Date and with the framing of its body.
///
/// Source: RFC 9112 §6, https://www.rfc-editor.org/rfc/rfc9112.html#section-6
struct FramedResponse {
    let head: HTTPResponseHead
    /// Whether a body is sent.
    ///
    /// Responses to HEAD and those with status 204 or 304 have none, whatever their fields announce.
    let hasBody: Bool
    /// The announced length of the body; `nil` if none is announced.
    let length: Int?

    /// A body whose length is not the announced one.
    struct WrongLength: Error {}

    init(_ response: OutgoingResponse, to request: HTTPRequestHead, isLast: Bool) {
        let status = response.head.status
        hasBody = request.method != .HEAD && status != .noContent && status != .notModified
        length = hasBody ? response.body.byteCount : nil
        var headers = HTTPHeaders(response.head.headerFields.map { ($0.name.rawName, $0.value) })
        if hasBody || status == .noContent { headers.remove(name: "content-length") }
        if let length {
            headers.add(name: "Content-Length", value: String(length))
        } else if hasBody, request.version != .http1_0 {
            headers.add(name: "Transfer-Encoding", value: "chunked")
        }
        if isLast { headers.add(name: "Connection", value: "close") }
        if !headers.contains(name: "date") { headers.add(name: "Date", value: Self.date()) }
        head = HTTPResponseHead(
            version: .http1_1,
            status: HTTPResponseStatus(statusCode: status.code),
            headers: headers
        )
    }

    /// Returns the current date, as a recipient has to add it (RFC 9110 §6.6.1).
    private static func date() -> String {
        var now = time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
            let count = strftime(text.baseAddress, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
            return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }
}
