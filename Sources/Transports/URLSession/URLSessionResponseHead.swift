import Foundation
import HTTPTypes
import Pipeline

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Status and header fields of a response, as a transport that decodes bodies hands them over.
struct URLSessionResponseHead: Sendable {
    /// Status and header fields.
    let fields: HTTPResponse
    /// How many bytes will be handed over, `nil` when that cannot be known.
    let announcedByteCount: Int?
    /// Whether Foundation decodes the body.
    let isCoded: Bool

    /// Whether the core may want to follow it, and to read little of its body.
    var isRedirect: Bool { (300..<400).contains(fields.status.code) && fields.status.code != 304 }

    /// - Returns: `nil` for an interim response.
    /// - Throws: `malformedResponse`.
    init?(_ response: URLResponse, to method: HTTPRequest.Method) throws {
        guard let response = response as? HTTPURLResponse, (100...999).contains(response.statusCode),
            response.statusCode != 101
        else { throw PipelineError(.malformedResponse, "the answer is not an HTTP response") }
        if response.statusCode < 200 { return nil }
        var headers = try Self.makeFields(response.allHeaderFields)
        let hasBody = method != .head && response.statusCode != 204 && response.statusCode != 304
        isCoded = hasBody && Self.isDecoded(headers[.contentEncoding])
        let length = try Self.makeContentLength(headers[.contentLength])
        if let length { headers[.contentLength] = String(length) }
        if isCoded {
            headers[.contentEncoding] = nil
            headers[.contentLength] = nil
        } else if headers.contains(.transferEncoding) {
            headers[.contentLength] = nil
        }
        announcedByteCount = hasBody && headers.contains(.contentLength) ? length : nil
        fields = HTTPResponse(status: .init(code: response.statusCode), headerFields: headers)
    }

    private static func makeFields(_ dictionary: [AnyHashable: Any]) throws -> HTTPFields {
        var fields = HTTPFields()
        fields.reserveCapacity(dictionary.count)
        let pairs = dictionary.map { (name: "\($0.key)", value: "\($0.value)") }
        for pair in pairs.sorted(by: { ($0.name.lowercased(), $0.name) < ($1.name.lowercased(), $1.name) }) {
            guard let name = HTTPField.Name(pair.name) else {
                throw PipelineError(.malformedResponse, "the name of a header field is not a token")
            }
            let values = name == .setCookie ? SetCookieSplitting.values(of: pair.value) : [pair.value]
            for value in values { fields.append(HTTPField(name: name, value: value)) }
        }
        return fields
    }

    /// One number, though it may be said more than once.
    ///
    /// Source: RFC 9110 §8.6, https://www.rfc-editor.org/rfc/rfc9110.html#section-8.6
    private static func makeContentLength(_ text: String?) throws -> Int? {
        guard let text else { return nil }
        let parts = Set(
            text.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        )
        guard parts.count == 1, let only = parts.first, !only.isEmpty,
            only.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let length = Int(only)
        else { throw PipelineError(.malformedResponse, "Content-Length is not one number") }
        return length
    }

    private static func isDecoded(_ contentEncoding: String?) -> Bool {
        guard let contentEncoding else { return false }
        let codings = contentEncoding.lowercased().split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        let coded = codings.filter { !$0.isEmpty && $0 != "identity" }
        return !coded.isEmpty && coded.allSatisfy(Self.codings.contains)
    }

    private static let codings: Set<String> = ["gzip", "x-gzip", "deflate", "br", "zstd"]
}
