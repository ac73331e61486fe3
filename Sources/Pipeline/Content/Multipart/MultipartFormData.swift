/// A form of several parts, as HTML forms with files send it: `multipart/form-data`.
///
/// ```swift
/// let form: MultipartFormData = [
///     MultipartFormBodyPart(.bytes(Data("Solaris".utf8)), name: "title"),
///     MultipartFormBodyPart(.file(cover), name: "cover"),
/// ]
/// ```
///
/// Parts are sent in their order, also those that share a name.
///
/// **Effects**: the request's body and its Content-Type, which is replaced where the target has set one. When all parts are
/// in memory and the body has at most 1 MiB, it is bytes; otherwise a stream that reads files in pieces of 64 KiB. The body
/// can be read again if every part can; its length is known if that of every part is. A file's length is taken when the
/// request is made.
///
/// **Errors**, before anything is sent: ``PipelineError/Code-swift.struct/encoding`` for no parts and for a boundary that
/// may not be one or that occurs in a part, ``PipelineError/Code-swift.struct/file(_:)`` for a file that cannot be read, and
/// ``PipelineError/Code-swift.struct/invalidRequest(_:)`` for a `mimeType` that may not stand in a header field. While it is
/// sent: ``PipelineError/Code-swift.struct/bodyChanged`` when a part has not the length that it announced.
///
/// Source: RFC 7578, https://www.rfc-editor.org/rfc/rfc7578.html
public struct MultipartFormData: Sendable, ExpressibleByArrayLiteral {
    /// The parts, in the order in which they are sent.
    public var parts: [MultipartFormBodyPart]

    /// What separates the parts; `nil` for 128 random bits that occur in no part that is in memory.
    ///
    /// One of your own has 1 to 70 letters, digits, spaces and characters of `'()+_,-./:=?`, does not end in a space, and
    /// occurs in no part.
    public var boundary: String?

    /// Makes a form.
    public init(boundary: String? = nil, parts: [MultipartFormBodyPart]) {
        self.boundary = boundary
        self.parts = parts
    }

    /// Makes a form with a random boundary.
    public init(arrayLiteral elements: MultipartFormBodyPart...) {
        self.init(parts: elements)
    }
}
