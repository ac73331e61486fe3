import Foundation
import Pipeline

/// A streamed body in a temporary file, mode 0600, which goes with the last reference to it.
final class URLSessionSpool: Sendable {
    /// A body that Foundation can send.
    enum Content {
        case bytes(Data)
        case file(URLSessionSpool)
    }

    private static let memoryByteCount = 1 << 20

    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(
            path: ".pipeline-\(UUID().uuidString)",
            directoryHint: .notDirectory
        )
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: url.path, contents: nil, attributes: attributes) else {
            throw PipelineError(.file(.notWritable), "no temporary file can be made for the body")
        }
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// Reads a body to its end: short ones into memory.
    static func read(_ body: PipelineBody, limit: Int) async throws -> Content {
        var head = Data()
        var spool: (file: URLSessionSpool, handle: FileHandle)?
        var byteCount = 0
        for try await chunk in body.chunks() {
            guard chunk.count <= limit - byteCount else {
                throw PipelineError(.limit(.bodyBytes), "the body is larger than the \(limit) bytes allowed")
            }
            byteCount += chunk.count
            if let spool {
                try write(chunk, to: spool.handle)
                continue
            }
            head.append(chunk)
            guard byteCount > memoryByteCount else { continue }
            let file = try URLSessionSpool()
            let handle = try FileHandle(forWritingTo: file.url)
            try write(head, to: handle)
            head = Data()
            spool = (file, handle)
        }
        // A stream may end because its reader is cancelled; what has come by then is no body.
        try Task.checkCancellation()
        // A transport with a stream of its own would have announced this length.
        if let announced = body.byteCount, announced != byteCount {
            throw PipelineError(.bodyChanged, "the body has \(byteCount) bytes, \(announced) were announced")
        }
        guard let spool else { return .bytes(head) }
        try spool.handle.close()
        return .file(spool.file)
    }

    static func write(_ data: Data, to handle: FileHandle) throws {
        do {
            try handle.write(contentsOf: data)
        } catch {
            let isFull = (error as? CocoaError)?.code == .fileWriteOutOfSpace
            throw PipelineError(
                .file(isFull ? .noSpace : .notWritable),
                "the temporary file for the body cannot be written",
                underlyingError: error
            )
        }
    }
}
