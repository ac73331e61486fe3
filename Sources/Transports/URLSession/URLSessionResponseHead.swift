import Foundation
import HTTPTypes
import PipelineCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The status and header fields of a response, after Foundation has decoded its body.
struct URLSessionResponseHead: Sendable {
    /// The status and header fields.
    let fields: HTTPResponse
    /// The number of bytes that will be delivered; `nil` if it is not known.
    let announcedByteCount: Int?
    /// Whether Foundation decodes the body.
    let isCoded: Bool

    /// Whether the core may follow the response and read little of its body.
    var isRedirect: Bool { (300..<400).contains(fields.status.code) && fields.status.code != 304 }

    /// - Returns: `nil` for an interim response.
    /// - Throws: `PipelineError` with code `malformedResponse`.
    init?(_ response: URLResponse, to method: HTTPRequest.Method) throws {
        guard let response = response as? HTTPURLResponse, (100...999).contains(response.statusCode),
            response.statusCode != 101
        else { throw PipelineError(.malformedResponse, "the response is not HTTP") }
        if response.statusCode < 200 { return nil }
        var headers = try Self.makeFields(response.allHeaderFields)
        let hasBody = method != .head && response.statusCode != 204 && response.statusCode != 304
        isCoded = hasBody && Self.isDecoded(headers[.contentEncoding])
        let lengthText = headers[.contentLength]
        let length = try Self.makeContentLength(lengthText)
        if let length, lengthText != "\(length)" { headers[.contentLength] = "\(length)" }
        let isChunked = headers.contains(.transferEncoding)
        if isCoded { headers[.contentEncoding] = nil }
        if isCoded || isChunked { headers[.contentLength] = nil }
        announcedByteCount = hasBody && !isCoded && !isChunked ? length : nil
        fields = HTTPResponse(status: .init(code: response.statusCode), headerFields: headers)
    }

    private static func makeFields(_ dictionary: [AnyHashable: Any]) throws -> HTTPFields {
        var pairs: [(name: HTTPField.Name, value: String)] = []
        pairs.reserveCapacity(dictionary.count)
        for (key, value) in dictionary {
            guard let name = HTTPField.Name(key as? String ?? "\(key)") else {
                throw PipelineError(.malformedResponse, "the name of a header field is not a token")
            }
            pairs.append((name, value as? String ?? "\(value)"))
        }
        pairs.sort { ($0.name.canonicalName, $0.name.rawName) < ($1.name.canonicalName, $1.name.rawName) }
        var fields = HTTPFields()
        fields.reserveCapacity(pairs.count)
        for (name, value) in pairs {
            if name == .setCookie {
                for value in SetCookieSplitting.values(of: value) { fields.append(HTTPField(name: name, value: value)) }
            } else {
                fields.append(HTTPField(name: name, value: value))
            }
        }
        return fields
    }

    /// Returns the one number in the field, even if it is repeated.
    ///
    /// Source: RFC 9110 §8.6, https://www.rfc-editor.org/rfc/rfc9110.html#section-8.6
    private static func makeContentLength(_ text: String?) throws -> Int? {
        guard let text else { return nil }
        if let length = makeNumber(text) { return length }
        let parts = Set(
            text.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        )
        guard parts.count == 1, let length = parts.first.flatMap(makeNumber) else {
            throw PipelineError(.malformedResponse, "Content-Length is not one number")
        }
        return length
    }

    /// Returns the number if the text consists of digits only, without a sign or a space.
    private static func makeNumber(_ text: String) -> Int? {
        text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) ? Int(text) : nil
    }

    private static func isDecoded(_ contentEncoding: String?) -> Bool {
        guard let contentEncoding else { return false }
        let codings = contentEncoding.lowercased().split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        let coded = codings.filter { !$0.isEmpty && $0 != "identity" }
        return !coded.isEmpty && coded.allSatisfy(Self.codings.contains)
    }

    /// Returns whether Accept-Encoding names a coding that Foundation decodes, or any coding.
    static func asksForCoding(in acceptEncoding: String?) -> Bool {
        (acceptEncoding ?? "").lowercased().split(separator: ",").contains { element in
            let parts = element.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
            guard let name = parts.first, name == "*" || codings.contains(name) else { return false }
            return !parts.dropFirst().contains { $0.hasPrefix("q=") && Double($0.dropFirst(2)) == 0 }
        }
    }

    private static let codings: Set<String> = ["gzip", "x-gzip", "deflate", "br", "zstd"]
}
