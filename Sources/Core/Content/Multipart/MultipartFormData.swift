/// A multipart form, `multipart/form-data`, as HTML forms with files send it.
///
/// ```swift
/// let form: MultipartFormData = [
///     MultipartFormBodyPart(.bytes(Data("Solaris".utf8)), name: "title"),
///     MultipartFormBodyPart(.file(cover), name: "cover"),
/// ]
/// ```
///
/// Parts are sent in order, including those that share a name.
///
/// **Effects**: sets the request's body and Content-Type, and replaces a Content-Type of the target. If all parts are
/// in memory and the body has at most 1 MiB, the body is bytes. Otherwise it is a stream that reads files in pieces of
/// 64 KiB. The body can be replayed if every part can, and its length is known if the length of every part is. Files
/// are measured when the request is made.
///
/// **Errors**, before anything is sent
/// - ``PipelineError/Code-swift.struct/encoding``: the form has no parts, or the boundary is invalid or occurs in a
///   part.
/// - ``PipelineError/Code-swift.struct/file(_:)``: a file cannot be read.
/// - ``PipelineError/Code-swift.struct/invalidRequest(_:)``: a `mimeType` is not a valid header field value.
///
/// While the form is sent, ``PipelineError/Code-swift.struct/bodyChanged`` if a part does not have its announced
/// length.
///
/// Source: RFC 7578, https://www.rfc-editor.org/rfc/rfc7578.html
public struct MultipartFormData: Sendable, ExpressibleByArrayLiteral {
    /// The parts, in the order in which they are sent.
    public var parts: [MultipartFormBodyPart]

    /// The boundary that separates the parts; `nil` uses 128 random bits that occur in no part in memory.
    ///
    /// A custom boundary must have 1 to 70 letters, digits, spaces and characters of `'()+_,-./:=?`. It must not end in
    /// a space or occur in a part.
    public var boundary: String?

    /// Creates a form from its parts, with a random boundary unless one is given.
    public init(boundary: String? = nil, parts: [MultipartFormBodyPart]) {
        self.boundary = boundary
        self.parts = parts
    }

    /// Creates a form with a random boundary from an array literal of parts.
    public init(arrayLiteral elements: MultipartFormBodyPart...) {
        self.init(parts: elements)
    }
}
