public import Foundation
import HTTPTypes
public import Pipeline

/// Splits a multipart body into its parts, for tests of uploads.
///
/// ```swift
/// let request = try #require(transport.sent.first)
/// let parts = try await MultipartReader.parts(of: request)
/// #expect(parts.map(\.name) == ["title", "cover"])
/// ```
///
/// It is strict: what a receiver may reject is a ``Failure`` with the offset of the offending byte. Rejected are a preamble, an
/// epilogue, blanks after a boundary, lines that do not end in CRLF, folded or repeated fields, control characters and broken
/// UTF-8 in fields, a part without a name, `filename*`, and a body without parts.
///
/// Source: RFC 7578, https://www.rfc-editor.org/rfc/rfc7578.html, and RFC 2046 §5.1.1
public struct MultipartReader: Sendable {
    let boundary: String

    /// - Throws: ``Failure`` for an invalid boundary, with the offset in its text.
    init(boundary: String) throws {
        self.init(valid: try BoundaryText.check(Array(boundary.utf8)[...]))
    }

    /// - Throws: ``Failure`` unless it is `multipart/form-data` with one boundary, with the offset in its text.
    init(contentType: String) throws {
        let value = try FieldValue(Array(contentType.utf8)[...])
        guard value.text.lowercased() == "multipart/form-data" else {
            throw Failure("the Content-Type is not multipart/form-data", at: 0)
        }
        guard let boundary = value.parameter("boundary") else {
            throw Failure("the Content-Type has no boundary", at: contentType.utf8.count)
        }
        self.init(valid: try BoundaryText.check(boundary))
    }

    private init(valid boundary: String) {
        self.boundary = boundary
    }

    /// - Throws: ``Failure`` with the offset in the body.
    func parts(of body: Data) throws -> [Part] {
        var scanner = MultipartScanner(Array(body), boundary: boundary)
        return try scanner.parts()
    }

    /// Returns the parts of a body in order.
    ///
    /// - Parameters:
    ///   - body: the body.
    ///   - contentType: the Content-Type with the boundary, such as `multipart/form-data; boundary=x`.
    /// - Returns: the parts.
    /// - Throws: ``Failure``, with the offset in the body or in the Content-Type.
    public static func parts(of body: Data, contentType: String) throws -> [Part] {
        try MultipartReader(contentType: contentType).parts(of: body)
    }

    /// Returns the parts of a request's body in order.
    ///
    /// A stream that can be read only once is consumed.
    ///
    /// - Parameters:
    ///   - request: a request whose Content-Type has the boundary.
    ///   - limit: the maximum number of bytes; defaults to 100 MiB.
    /// - Returns: the parts.
    /// - Throws: ``Failure``, and the errors of reading the body.
    public static func parts(of request: PipelineRequest, upTo limit: Int = 100 << 20) async throws -> [Part] {
        let values = request.headers[values: .contentType]
        guard values.count == 1 else {
            throw Failure("the request has \(values.count) fields Content-Type, not one", at: 0)
        }
        return try parts(of: try await request.body.collect(upTo: limit), contentType: values[0])
    }

    /// One part.
    public struct Part: Sendable, Hashable {
        /// The header fields as they were sent, one per line.
        public let headerLines: [String]
        /// The name of the form's field as it was sent, `%22` for a quotation mark.
        public let name: String
        /// The name of the file as it was sent; `nil` if there is none.
        public let fileName: String?
        /// The Content-Type; `nil` if there is none.
        public let mimeType: String?
        /// The bytes.
        public let content: Data
    }

    /// An error in a body or its Content-Type.
    public struct Failure: Error, Hashable, CustomStringConvertible {
        /// The reason, without bytes of the body.
        public let reason: String
        /// The position in bytes from the start.
        public let offset: Int

        init(_ reason: String, at offset: Int) {
            self.reason = reason
            self.offset = offset
        }

        /// The reason and the position.
        public var description: String { "\(reason), at offset \(offset)" }
    }
}
