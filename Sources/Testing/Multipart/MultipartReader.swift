public import Foundation
import HTTPTypes
public import PipelineCore

/// Splits a multipart body into its parts, for tests of uploads.
///
/// ```swift
/// let request = try #require(transport.sent.first)
/// let parts = try await MultipartReader.parts(of: request)
/// #expect(parts.map(\.name) == ["title", "cover"])
/// ```
///
/// The reader is strict: anything that a receiver may reject throws a ``Failure`` with the offset of the offending
/// byte. It rejects a preamble, an epilogue, blanks after a boundary, lines that do not end in CRLF, folded or repeated
/// fields, control characters and invalid UTF-8 in fields, a part without a name, `filename*`, and a body without
/// parts.
///
/// Source: RFC 7578, https://www.rfc-editor.org/rfc/rfc7578.html, and RFC 2046 §5.1.1
public enum MultipartReader {
    /// Returns the parts of a body in order.
    ///
    /// - Parameters:
    ///   - body: the multipart body.
    ///   - contentType: the Content-Type that has the boundary, such as `multipart/form-data; boundary=x`.
    /// - Returns: the parts.
    /// - Throws: ``Failure``, with the offset in the body or in the Content-Type.
    public static func parts(of body: Data, contentType: String) throws -> [Part] {
        var scanner = MultipartScanner(Array(body), boundary: try FieldValue.boundary(of: contentType))
        return try scanner.parts()
    }

    /// Returns the parts of a request's body in order.
    ///
    /// If the body is a stream that can be read only once, it is consumed.
    ///
    /// - Parameters:
    ///   - request: a request whose Content-Type has the boundary.
    ///   - limit: the maximum size of the body in bytes; defaults to 100 MiB.
    /// - Returns: the parts.
    /// - Throws: ``Failure``, or an error of reading the body.
    public static func parts(of request: PipelineRequest, upTo limit: Int = 100 << 20) async throws -> [Part] {
        let values = request.headers[values: .contentType]
        guard values.count == 1 else {
            throw Failure("the request has \(values.count) fields Content-Type, not one", at: 0)
        }
        return try parts(of: try await request.body.collect(upTo: limit), contentType: values[0])
    }

    /// A part of a multipart body.
    public struct Part: Sendable, Hashable {
        /// The header fields as they were sent, one per line.
        public let headerLines: [String]
        /// The name of the form field as it was sent, with `%22` for a quotation mark.
        public let name: String
        /// The name of the file as it was sent, `nil` if there is none.
        public let fileName: String?
        /// The Content-Type of the part, `nil` if there is none.
        public let mimeType: String?
        /// The bytes of the part's content.
        public let content: Data
    }

    /// An error in a multipart body or its Content-Type.
    public struct Failure: Error, Hashable, CustomStringConvertible {
        /// The reason, which contains no bytes of the body.
        public let reason: String
        /// The offset of the error, in bytes from the start.
        public let offset: Int

        init(_ reason: String, at offset: Int) {
            self.reason = reason
            self.offset = offset
        }

        /// The reason and the offset as text.
        public var description: String { "\(reason), at offset \(offset)" }
    }
}
