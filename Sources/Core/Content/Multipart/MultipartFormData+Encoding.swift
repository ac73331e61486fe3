import Foundation
import HTTPTypes

extension MultipartFormData {
    /// The maximum size of a body in memory.
    private static let inMemoryByteCount = 1 << 20

    /// Makes the body and its Content-Type.
    func makeBody(
        using generator: inout some RandomNumberGenerator,
        files: FileChecks = .immediate
    ) throws -> (body: PipelineBody, contentType: String) {
        guard !parts.isEmpty else { throw PipelineError(.encoding, "the form has no parts") }
        let boundary =
            if let text = self.boundary {
                try MultipartBoundary(checked: text, for: parts)
            } else {
                try MultipartBoundary(using: &generator, for: parts)
            }
        let chunks = MultipartChunks(
            sections: try makeSections(boundary),
            end: Data("\r\n--\(boundary.text)--\r\n".utf8)
        )
        let hasFiles = chunks.sections.contains { $0.body.isFile }
        let body: PipelineBody =
            if hasFiles, files == .deferred {
                .unmeasured(chunks) { try Self.makeBody(of: chunks.measured()) }
            } else {
                try Self.makeBody(of: hasFiles ? chunks.measured() : chunks)
            }
        return (body, boundary.contentType)
    }

    private func makeSections(_ boundary: MultipartBoundary) throws -> [MultipartChunks.Section] {
        let first = Data("--\(boundary.text)\r\n".utf8)
        let delimiter = Data("\r\n--\(boundary.text)\r\n".utf8)
        return try parts.enumerated().map { index, part in
            let label = part.label(position: index + 1)
            return MultipartChunks.Section(
                head: (index == 0 ? first : delimiter) + (try part.head(position: index + 1)),
                body: part.body,
                byteCount: try Self.announcedByteCount(of: part.body, label),
                label: label
            )
        }
    }

    private static func makeBody(of chunks: MultipartChunks) throws -> PipelineBody {
        let byteCount = try chunks.byteCount()
        if let byteCount, byteCount <= inMemoryByteCount, let bytes = chunks.bytes(byteCount: byteCount) {
            return .bytes(bytes)
        }
        return chunks.isReplayable
            ? .stream(byteCount: byteCount) { chunks }
            : .stream(chunks, byteCount: byteCount)
    }

    /// Returns the length of a part; `nil` for a stream of unknown length, and for a file, which is measured later.
    private static func announcedByteCount(of body: PipelineBody, _ label: String) throws -> Int? {
        guard !body.isFile, let byteCount = body.byteCount else { return nil }
        guard byteCount >= 0 else {
            throw PipelineError(.encoding, "\(label) announces a length of \(byteCount) bytes")
        }
        return byteCount
    }
}
