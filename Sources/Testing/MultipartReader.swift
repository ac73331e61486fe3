public import Foundation
import HTTPTypes
public import Pipeline

/// Takes a multipart body apart, to see what an upload has sent.
///
/// ```swift
/// let request = try #require(transport.sent.first)
/// let parts = try await MultipartReader.parts(of: request)
/// #expect(parts.map(\.name) == ["title", "cover"])
/// ```
///
/// It is strict: what a receiver may or may not put up with is a ``Failure`` with the offset of the byte at fault. Refused
/// are a preamble, an epilogue, blanks after a boundary, lines that do not end in CRLF, folded or repeated fields, control
/// characters and broken UTF-8 in fields, a part without a name, `filename*`, and a body without parts.
///
/// Source: RFC 7578, https://www.rfc-editor.org/rfc/rfc7578.html, and RFC 2046 §5.1.1
public struct MultipartReader: Sendable {
    /// What stands between the parts.
    public let boundary: String

    /// A reader of bodies with this boundary.
    ///
    /// - Throws: ``Failure`` for what may not be a boundary, with the offset in its text.
    public init(boundary: String) throws {
        self.init(valid: try BoundaryText.check(Array(boundary.utf8)[...]))
    }

    /// A reader of bodies with this Content-Type.
    ///
    /// - Throws: ``Failure`` for what is not `multipart/form-data` with one boundary, with the offset in its text.
    public init(contentType: String) throws {
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

    /// The parts of a body, in their order.
    ///
    /// - Throws: ``Failure`` with the offset in the body.
    public func parts(of body: Data) throws -> [Part] {
        var scanner = MultipartScanner(Array(body), boundary: boundary)
        return try scanner.parts()
    }

    /// The parts of a request's body, in their order.
    ///
    /// A stream that can be read once is consumed.
    ///
    /// - Parameters:
    ///   - request: a request whose Content-Type names the boundary.
    ///   - limit: the most bytes that are read, 100 MiB without.
    /// - Returns: the parts.
    /// - Throws: ``Failure``, and what reading the body throws.
    public static func parts(of request: PipelineRequest, upTo limit: Int = 100 << 20) async throws -> [Part] {
        let values = request.headers[values: .contentType]
        guard values.count == 1 else {
            throw Failure("the request has \(values.count) fields Content-Type, not one", at: 0)
        }
        return try MultipartReader(contentType: values[0]).parts(of: try await request.body.collect(upTo: limit))
    }

    /// One part.
    public struct Part: Sendable, Hashable {
        /// The header fields as they arrived, one a line.
        public let headerLines: [String]
        /// The name of the form's field as it was sent, `%22` for a quotation mark.
        public let name: String
        /// The name of the file as it was sent, `nil` when there is none.
        public let fileName: String?
        /// The Content-Type, `nil` when there is none.
        public let mimeType: String?
        /// The bytes.
        public let content: Data
    }

    /// What is wrong with a body.
    public struct Failure: Error, Hashable, CustomStringConvertible {
        /// What, without a byte of the body.
        public let reason: String
        /// Where, in bytes from the beginning.
        public let offset: Int

        init(_ reason: String, at offset: Int) {
            self.reason = reason
            self.offset = offset
        }

        /// What and where.
        public var description: String { "\(reason), at offset \(offset)" }
    }
}
