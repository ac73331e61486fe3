public import Foundation

/// A file in a value that ``MultipartFormData/init(encoding:using:)`` encodes as a multipart form.
///
/// The file is either bytes in memory, or a file on disk that is read while it is sent.
///
/// ```swift
/// FormFile(jpeg, fileName: "cat.jpg")
/// FormFile(contentsOf: video, mimeType: .mp4)
/// ```
///
/// **Errors**: any other encoding of the value, such as JSON or a query, fails with `encoding` and the coding path. It
/// would hold the file's path instead of its bytes. A `mimeType` that is not a valid header field value fails with
/// ``PipelineError/Code-swift.struct/invalidRequest(_:)`` when the form is encoded.
///
/// **Secrets**: `FormFile` is not `Decodable`, because decoded JSON could then choose which file is sent.
public struct FormFile: Encodable, Sendable, Hashable {
    /// The bytes, if they are in memory; otherwise `nil`.
    public let data: Data?
    /// The URL of the file on disk; `nil` if the bytes are in memory.
    public let url: URL?
    /// The file name that is sent with the part.
    public let fileName: String
    /// The media type; `nil` derives it from the extension of `fileName`.
    public let mimeType: MIMEType?

    /// Creates a file from bytes in memory.
    ///
    /// - Parameters:
    ///   - data: the bytes of the file.
    ///   - fileName: the file name that is sent.
    ///   - mimeType: the media type; `nil` derives it from the name's extension, or uses `application/octet-stream` if
    ///     the extension is unknown.
    public init(_ data: Data, fileName: String, mimeType: MIMEType? = nil) {
        self.data = data
        self.url = nil
        self.fileName = fileName
        self.mimeType = mimeType
    }

    /// Creates a file from one on disk, which is read while it is sent.
    ///
    /// - Parameters:
    ///   - url: the URL of the file.
    ///   - fileName: the file name that is sent; `nil` uses the last path component of `url`.
    ///   - mimeType: the media type; `nil` derives it from the name's extension, or uses `application/octet-stream` if
    ///     the extension is unknown.
    public init(contentsOf url: URL, fileName: String? = nil, mimeType: MIMEType? = nil) {
        self.data = nil
        self.url = url
        self.fileName = fileName ?? url.lastPathComponent
        self.mimeType = mimeType
    }

    /// Always throws an error, because only a multipart form can hold a file.
    public func encode(to encoder: any Encoder) throws {
        let reason = "a file goes into a form of several parts alone"
        throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: reason))
    }

    /// Returns the file as a part of a form.
    func part(named name: String) -> MultipartFormBodyPart {
        let body: PipelineBody = url.map { .file($0) } ?? .bytes(data ?? Data())
        return MultipartFormBodyPart(body, name: name, fileName: fileName, mimeType: mimeType)
    }
}

extension FormFile: SafelyDescribed {
    /// The file's name in quotation marks, at most 64 characters of it.
    public var description: String { fileName.quotedExcerpt }
}
