public import Foundation
import PipelineCore
import Synchronization

/// A multipart form, `multipart/form-data`, as HTML forms with files send it.
@available(swift, deprecated: 7, message: "Use MultipartFormData of Pipeline.")
public struct MultipartFormData: Hashable, ExpressibleByArrayLiteral {
    /// The content of a part.
    public enum FormDataProvider: Hashable {
        /// Bytes in memory.
        case data(Data)
        /// A file, which is read while the form is sent.
        case file(URL)
        /// A stream of the given length, which is read while the form is sent.
        case stream(InputStream, UInt64)
    }

    /// A file manager, which is kept for source compatibility and not used.
    public let fileManager: FileManager

    /// The boundary between the parts; `nil` for a random one.
    public let boundary: String?

    /// The parts, in the order in which they are sent.
    public let parts: [MultipartFormBodyPart]

    /// Creates a form from its parts.
    public init(fileManager: FileManager = .default, boundary: String? = nil, parts: [MultipartFormBodyPart]) {
        self.fileManager = fileManager
        self.boundary = boundary
        self.parts = parts
    }

    /// Creates a form with one part, as in Moya 15.0.
    public init(provider: FormDataProvider, name: String, fileName: String? = nil, mimeType: String? = nil) {
        self.init(parts: [.init(provider: provider, name: name, fileName: fileName, mimeType: mimeType)])
    }

    /// Creates a form with a random boundary from an array literal of parts.
    public init(arrayLiteral elements: MultipartFormBodyPart...) {
        self.init(parts: elements)
    }

    /// Returns whether two forms have equal boundaries and parts.
    public static func == (one: MultipartFormData, other: MultipartFormData) -> Bool {
        one.boundary == other.boundary && one.parts == other.parts
    }

    /// Hashes the boundary and the parts.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(boundary)
        hasher.combine(parts)
    }

    /// The same form for the native provider.
    var native: PipelineCore.MultipartFormData {
        PipelineCore.MultipartFormData(boundary: boundary, parts: parts.map(\.native))
    }
}

/// A part of a multipart form: a field or a file.
@available(swift, deprecated: 7, message: "Use MultipartFormBodyPart of Pipeline.")
public struct MultipartFormBodyPart: Hashable {
    /// The content of the part.
    public let provider: MultipartFormData.FormDataProvider
    /// The name of the form's field.
    public let name: String
    /// The name of the file; `nil` uses that of the file, if the content is one.
    public let fileName: String?
    /// The media type; `nil` derives it from the extension of the file name, if there is one.
    public let mimeType: String?

    /// Creates a part from its content and the name of its field.
    public init(
        provider: MultipartFormData.FormDataProvider,
        name: String,
        fileName: String? = nil,
        mimeType: String? = nil
    ) {
        self.provider = provider
        self.name = name
        self.fileName = fileName
        self.mimeType = mimeType
    }

    fileprivate var native: PipelineCore.MultipartFormBodyPart {
        let body: PipelineBody =
            switch provider {
            case .data(let data): .bytes(data)
            case .file(let url): .file(url)
            case .stream(let stream, let length): .stream(StreamChunks(stream), byteCount: Int(clamping: length))
            }
        return .init(body, name: name, fileName: fileName, mimeType: mimeType.map { MIMEType($0) })
    }
}

/// The bytes of an input stream, in pieces of 64 KiB.
// The form is sent once, and only its one reader uses the stream.
private struct StreamChunks: AsyncSequence, AsyncIteratorProtocol, @unchecked Sendable {
    private let stream: InputStream
    private var isOpen = false

    init(_ stream: InputStream) {
        self.stream = stream
    }

    func makeAsyncIterator() -> StreamChunks { self }

    mutating func next() async throws -> Data? {
        if !isOpen {
            stream.open()
            isOpen = true
        }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = stream.read(&buffer, maxLength: buffer.count)
        if count < 0 {
            throw PipelineError(.file(.unreadable), "the stream of a part failed", underlyingError: stream.streamError)
        }
        guard count > 0 else {
            stream.close()
            return nil
        }
        return Data(buffer.prefix(count))
    }
}
