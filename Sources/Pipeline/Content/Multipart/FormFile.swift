public import Foundation

/// A file in a value that becomes a form of several parts, ``MultipartFormData/init(encoding:using:)``: bytes in memory, or a
/// file that is read as it is sent.
///
/// ```swift
/// FormFile(jpeg, fileName: "cat.jpg")
/// FormFile(contentsOf: video, mimeType: .mp4)
/// ```
///
/// **Errors**: in a value that becomes anything else, such as JSON or a query, `encoding` with the place where it stands: JSON
/// would hold the file's path, not its bytes. A `mimeType` that cannot be the value of a header field fails with
/// ``PipelineError/Code-swift.struct/invalidRequest(_:)`` when the form is encoded. It does not decode: whoever wrote the JSON
/// would choose the file that is sent.
public struct FormFile: Encodable, Sendable, Hashable {
    /// The bytes, when they are in memory.
    public let data: Data?
    /// The file, when they are not.
    public let url: URL?
    /// The name that is sent.
    public let fileName: String
    /// The media type; `nil` for that of the name's extension.
    public let mimeType: MIMEType?

    /// Makes a file of bytes in memory.
    ///
    /// - Parameters:
    ///   - data: the bytes.
    ///   - fileName: the name that is sent.
    ///   - mimeType: the media type; `nil` for that of the name's extension, `application/octet-stream` for one that is not
    ///     known.
    public init(_ data: Data, fileName: String, mimeType: MIMEType? = nil) {
        self.data = data
        self.url = nil
        self.fileName = fileName
        self.mimeType = mimeType
    }

    /// Makes a file of one on disk, which is read as it is sent.
    ///
    /// - Parameters:
    ///   - url: the file.
    ///   - fileName: the name that is sent; `nil` for the file's own.
    ///   - mimeType: the media type; `nil` for that of the name's extension, `application/octet-stream` for one that is not
    ///     known.
    public init(contentsOf url: URL, fileName: String? = nil, mimeType: MIMEType? = nil) {
        self.data = nil
        self.url = url
        self.fileName = fileName ?? url.lastPathComponent
        self.mimeType = mimeType
    }

    /// Throws an error: only a form of several parts takes a file.
    public func encode(to encoder: any Encoder) throws {
        let reason = "a file goes into a form of several parts alone"
        throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: reason))
    }

    /// The file as a part of a form.
    func part(named name: String) -> MultipartFormBodyPart {
        let body: PipelineBody = url.map { .file($0) } ?? .bytes(data ?? Data())
        return MultipartFormBodyPart(body, name: name, fileName: fileName, mimeType: mimeType)
    }
}

extension FormFile: SafelyDescribed {
    /// The file's name.
    public var description: String { fileName.quotedExcerpt }
}
