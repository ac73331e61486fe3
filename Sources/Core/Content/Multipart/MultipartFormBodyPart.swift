import Foundation

/// A part of a multipart form: a field or a file.
///
/// The content can be any body: bytes, a file, or a stream.
///
/// | content | `fileName` given | `mimeType` given | filename sent | Content-Type sent |
/// |---|---|---|---|---|
/// | bytes, stream | no | no | none | none |
/// | bytes, stream, file | yes | no | as given | by the extension |
/// | file | no | no | the URL's last path component | by the extension |
/// | bytes, stream | no | yes | none | as given |
/// | bytes, stream, file | yes | yes | as given | as given |
///
/// An unknown extension gives `application/octet-stream`.
///
/// In `name` and `fileName`, a quotation mark is sent as `%22`, CR as `%0D` and LF as `%0A`, as browsers do. NUL, the
/// other control characters except tab, and DEL are percent-encoded too, because some receivers would truncate the
/// name. All other characters are sent unchanged, in UTF-8.
///
/// Source: https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data
public struct MultipartFormBodyPart: Sendable {
    /// The content of the part.
    public var body: PipelineBody

    /// The name of the form's field.
    public var name: String

    /// The name of the file, without a directory; `nil` for a field that is not a file.
    ///
    /// Set it to `nil` to send the bytes of a file as a plain field.
    public var fileName: String?

    /// The media type, such as `image/jpeg`; `nil` derives it from the extension of the file name, if there is one.
    ///
    /// A text that is not a valid header field value fails with ``PipelineError/Code-swift.struct/invalidRequest(_:)``
    /// when the form is encoded.
    public var mimeType: MIMEType?

    /// Creates a part from its content and the name of its field.
    ///
    /// - Parameters:
    ///   - body: the content of the part.
    ///   - name: the name of the form's field.
    ///   - fileName: the name of the file; `nil` uses the last path component if the body is a file.
    ///   - mimeType: the media type; `nil` derives it from the extension of the file name, if there is one.
    public init(_ body: PipelineBody, name: String, fileName: String? = nil, mimeType: MIMEType? = nil) {
        self.body = body
        self.name = name
        self.fileName = fileName ?? body.fileURL?.lastPathComponent
        self.mimeType = mimeType
    }
}

extension MultipartFormBodyPart: SafelyDescribed {
    /// The name and the kind of body, but not the content.
    public var description: String { "\(name.quotedExcerpt), \(body)" }
}

extension MultipartFormBodyPart {
    /// Returns the header fields of the part and the empty line after them.
    ///
    /// Errors name the part by its position, which starts at 1.
    func head(position: Int) throws -> [UInt8] {
        var head = Array("Content-Disposition: form-data; name=\"".utf8)
        Self.append(name, to: &head)
        if let fileName {
            head += Array("\"; filename=\"".utf8)
            Self.append(fileName, to: &head)
        }
        head += Array("\"\r\n".utf8)
        if let mimeType = mimeType?.description ?? fileName.map(FileMediaTypes.type(ofFileNamed:)) {
            guard Self.isFieldValue(mimeType) else {
                throw PipelineError(
                    .invalidRequest(.headerValue),
                    "the mimeType of \(label(position: position)) is empty or has a character that is not allowed there"
                )
            }
            head += Array("Content-Type: \(mimeType)\r\n".utf8)
        }
        return head + Array("\r\n".utf8)
    }

    /// Returns the name of the part for errors.
    func label(position: Int) -> String { "part \(position), \(name.quotedExcerpt)," }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), 0x00..<0x09, 0x0a..<0x20, 0x7f:
                let none = ByteSet(low: 0, high: 0)
                PercentEncoding.append(CollectionOfOne(byte), to: &bytes, allowed: none, keepsEscapes: false)
            default:
                bytes.append(byte)
            }
        }
    }

    private static func isFieldValue(_ text: String) -> Bool {
        guard let first = text.utf8.first, first != 0x20, text.utf8.last != 0x20 else { return false }
        return text.utf8.allSatisfy { (0x20..<0x7f).contains($0) }
    }
}
