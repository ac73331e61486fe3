/// The media type of a file or a part of a form, such as `image/jpeg`.
///
/// A string literal is a media type. The most common types have names.
///
/// ```swift
/// FormFile(photo, fileName: "photo", mimeType: .jpeg)
/// FormFile(model, fileName: "model.usdz", mimeType: "model/vnd.usdz+zip")
/// FormFile(data, fileName: name, mimeType: MIMEType(text))
/// ```
///
/// **Errors**: a text that is not a valid header field value fails with
/// ``PipelineError/Code-swift.struct/invalidRequest(_:)`` when the form is encoded.
///
/// Source: RFC 9110 §8.3.1, https://www.rfc-editor.org/rfc/rfc9110.html#section-8.3.1
public struct MIMEType: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The text that is sent in the Content-Type field.
    public let description: String

    /// Creates a media type from its text: visible ASCII characters, with spaces only between them.
    public init(_ text: String) { description = text }

    /// Creates a media type from a string literal.
    public init(stringLiteral text: String) { self.init(text) }
}

extension MIMEType {
    /// The media type of JPEG images, `image/jpeg`.
    public static let jpeg: MIMEType = "image/jpeg"
    /// The media type of PNG images, `image/png`.
    public static let png: MIMEType = "image/png"
    /// The media type of GIF images, `image/gif`.
    public static let gif: MIMEType = "image/gif"
    /// The media type of WebP images, `image/webp`.
    public static let webP: MIMEType = "image/webp"
    /// The media type of HEIC images, `image/heic`.
    public static let heic: MIMEType = "image/heic"
    /// The media type of SVG images, `image/svg+xml`.
    public static let svg: MIMEType = "image/svg+xml"
    /// The media type of MP4 videos, `video/mp4`.
    public static let mp4: MIMEType = "video/mp4"
    /// The media type of QuickTime videos, `video/quicktime`.
    public static let quickTime: MIMEType = "video/quicktime"
    /// The media type of MP3 audio, `audio/mpeg`.
    public static let mp3: MIMEType = "audio/mpeg"
    /// The media type of MPEG-4 audio, `audio/mp4`.
    public static let m4a: MIMEType = "audio/mp4"
    /// The media type of WAV audio, `audio/wav`.
    public static let wav: MIMEType = "audio/wav"
    /// The media type of plain text, `text/plain`.
    public static let plainText: MIMEType = "text/plain"
    /// The media type of HTML documents, `text/html`.
    public static let html: MIMEType = "text/html"
    /// The media type of comma-separated values, `text/csv`.
    public static let csv: MIMEType = "text/csv"
    /// The media type of JSON documents, `application/json`.
    public static let json: MIMEType = "application/json"
    /// The media type of XML documents, `application/xml`.
    public static let xml: MIMEType = "application/xml"
    /// The media type of PDF documents, `application/pdf`.
    public static let pdf: MIMEType = "application/pdf"
    /// The media type of ZIP archives, `application/zip`.
    public static let zip: MIMEType = "application/zip"
    /// The media type of bytes of an unknown type, `application/octet-stream`.
    public static let octetStream: MIMEType = "application/octet-stream"
}
