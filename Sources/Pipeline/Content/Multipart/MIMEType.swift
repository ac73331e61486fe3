/// The media type of a file or a part of a form, such as `image/jpeg`.
///
/// A literal is one as it is written; the most common have names.
///
/// ```swift
/// FormFile(photo, fileName: "photo", mimeType: .jpeg)
/// FormFile(model, fileName: "model.usdz", mimeType: "model/vnd.usdz+zip")
/// FormFile(data, fileName: name, mimeType: MIMEType(text))
/// ```
///
/// **Errors**: a text that cannot be a header field's value fails with ``PipelineError/Code-swift.struct/invalidRequest(_:)`` when the form
/// is encoded.
///
/// Source: RFC 9110 §8.3.1, https://www.rfc-editor.org/rfc/rfc9110.html#section-8.3.1
public struct MIMEType: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The text that is sent.
    public let description: String

    /// Creates a media type from its text; visible ASCII characters, with spaces between them.
    public init(_ text: String) { description = text }

    /// Creates a media type from a literal.
    public init(stringLiteral text: String) { self.init(text) }
}

extension MIMEType {
    /// `image/jpeg`.
    public static let jpeg: MIMEType = "image/jpeg"
    /// `image/png`.
    public static let png: MIMEType = "image/png"
    /// `image/gif`.
    public static let gif: MIMEType = "image/gif"
    /// `image/webp`.
    public static let webP: MIMEType = "image/webp"
    /// `image/heic`.
    public static let heic: MIMEType = "image/heic"
    /// `image/svg+xml`.
    public static let svg: MIMEType = "image/svg+xml"
    /// `video/mp4`.
    public static let mp4: MIMEType = "video/mp4"
    /// `video/quicktime`.
    public static let quickTime: MIMEType = "video/quicktime"
    /// `audio/mpeg`.
    public static let mp3: MIMEType = "audio/mpeg"
    /// `audio/mp4`.
    public static let m4a: MIMEType = "audio/mp4"
    /// `audio/wav`.
    public static let wav: MIMEType = "audio/wav"
    /// `text/plain`.
    public static let plainText: MIMEType = "text/plain"
    /// `text/html`.
    public static let html: MIMEType = "text/html"
    /// `text/csv`.
    public static let csv: MIMEType = "text/csv"
    /// `application/json`.
    public static let json: MIMEType = "application/json"
    /// `application/xml`.
    public static let xml: MIMEType = "application/xml"
    /// `application/pdf`.
    public static let pdf: MIMEType = "application/pdf"
    /// `application/zip`.
    public static let zip: MIMEType = "application/zip"
    /// `application/octet-stream`.
    public static let octetStream: MIMEType = "application/octet-stream"
}
