import Foundation

/// One part of a form: a field or a file.
///
/// Any body is a part's content: bytes, a file, or a stream.
///
/// | content | `fileName` given | `mimeType` given | filename sent | Content-Type sent |
/// |---|---|---|---|---|
/// | bytes, stream | no | no | none | none |
/// | bytes, stream, file | yes | no | as given | by the extension |
/// | file | no | no | the URL's last path component | by the extension |
/// | bytes, stream | no | yes | none | as given |
/// | bytes, stream, file | yes | yes | as given | as given |
///
/// An extension that is not known gives `application/octet-stream`.
///
/// In `name` and `fileName` a quotation mark is sent as `%22`, CR as `%0D` and LF as `%0A`, as browsers do; so that no
/// receiver cuts a name, NUL, the other control characters except the tab, and DEL are sent in the same way. Everything
/// else is sent as it is, in UTF-8.
///
/// Source: https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data
public struct MultipartFormBodyPart: Sendable {
    /// The content.
    public var body: PipelineBody

    /// The name of the form's field.
    public var name: String

    /// The name of the file, without a folder; `nil` for a field that is no file.
    ///
    /// Set it to `nil` to send the bytes of a file as a plain field.
    public var fileName: String?

    /// The media type, such as `image/jpeg`; `nil` for that of the file name's extension, if there is a file name.
    ///
    /// A text that cannot be the value of a header field fails with ``PipelineError/Code-swift.struct/invalidRequest(_:)`` when
    /// the form is encoded.
    public var mimeType: MIMEType?

    /// Makes a part.
    ///
    /// - Parameters:
    ///   - body: the content.
    ///   - name: the name of the form's field.
    ///   - fileName: the name of the file; `nil` takes the last path component of a body that is a file.
    ///   - mimeType: the media type; `nil` for that of the file name's extension, if there is a file name.
    public init(_ body: PipelineBody, name: String, fileName: String? = nil, mimeType: MIMEType? = nil) {
        self.body = body
        self.name = name
        self.fileName = fileName ?? body.fileURL?.lastPathComponent
        self.mimeType = mimeType
    }
}

extension MultipartFormBodyPart: SafelyDescribed {
    /// The name, and what kind of body it is.
    public var description: String { "\(name.quotedExcerpt), \(body)" }
}
