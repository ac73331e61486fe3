import Foundation
import PipelineCore

/// A streamed body that is read to its end so that Foundation can send it.
enum URLSessionSpool: Sendable {
    case bytes(Data)
    /// A temporary file, which is removed when the last reference to it is released.
    case file(FileWriter)

    private static let memoryByteCount = 1 << 20

    /// Reads a body to its end: a short body into memory, a longer one into a file.
    init(_ body: PipelineBody, limit: Int) async throws {
        let lane = FileLane()
        var head = Data()
        var file: FileWriter?
        var byteCount = 0
        for try await chunk in body.chunks() {
            guard chunk.count <= limit - byteCount else {
                throw PipelineError(.limit(.bodyBytes), "the body is larger than the \(limit) bytes allowed")
            }
            byteCount += chunk.count
            if let file {
                try await lane.run { try file.append(chunk) }
                continue
            }
            head.append(chunk)
            guard byteCount > Self.memoryByteCount else { continue }
            file = try await lane.run { [head] in
                let file = try FileWriter.temporary(in: nil, lane)
                try file.append(head)
                return file
            }
            head = Data()
        }
        // A stream may end early because its reader is cancelled; the bytes read by then are not the whole body.
        try Task.checkCancellation()
        // A transport that streams request bodies would have announced this length.
        if let announced = body.byteCount, announced != byteCount {
            throw PipelineError(.bodyChanged, "the body has \(byteCount) bytes, \(announced) were announced")
        }
        self = file.map { .file($0) } ?? .bytes(head)
    }
}
