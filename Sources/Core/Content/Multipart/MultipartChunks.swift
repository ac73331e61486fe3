import Foundation

/// The bytes of a multipart body in chunks; each iteration starts from the beginning.
struct MultipartChunks: AsyncSequence, Sendable {
    /// A part and the bytes before it.
    struct Section: Sendable {
        /// The delimiter and the header fields.
        let head: Data
        let body: PipelineBody
        /// The announced length of the body; `nil` if it is unknown.
        var byteCount: Int?
        /// The name of the part in errors.
        let label: String
    }

    /// The size up to which parts in memory are combined into one chunk; larger parts are passed on unchanged.
    private static let gatheredByteCount = 64 << 10

    private(set) var sections: [Section]
    /// The bytes after the last part.
    let end: Data

    init(sections: [Section], end: Data) {
        self.sections = sections
        self.end = end
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    var isReplayable: Bool { sections.allSatisfy(\.body.isReplayable) }

    /// Returns a copy with the current lengths of its files; blocks the calling thread while the files are checked.
    func measured() throws -> MultipartChunks {
        var copy = self
        for (index, section) in sections.enumerated() {
            guard let url = section.body.fileURL else { continue }
            copy.sections[index].byteCount = try PipelineBody.requireReadableFile(url, part: section.label)
        }
        return copy
    }

    /// Returns the total length; `nil` if the length of a part is unknown.
    func byteCount() throws -> Int? {
        var total = end.count
        for section in sections {
            guard let byteCount = section.byteCount else { return nil }
            let sum = (total + section.head.count).addingReportingOverflow(byteCount)
            // Half the range of an Int leaves room for any heads.
            guard !sum.overflow, sum.partialValue <= Int.max >> 1 else {
                throw PipelineError(.encoding, "\(section.label) announces more bytes than can be sent")
            }
            total = sum.partialValue
        }
        return total
    }

    /// Returns the whole body if all parts are in memory, otherwise `nil`.
    func bytes(byteCount: Int) -> Data? {
        var whole = Data(capacity: byteCount)
        for section in sections {
            guard let bytes = section.body.bytes else { return nil }
            whole += section.head
            whole += bytes
        }
        return whole + end
    }

    /// Reads the parts one by one, and closes the file it is reading when it is released.
    struct AsyncIterator: AsyncIteratorProtocol {
        private let chunks: MultipartChunks
        private var index = 0
        private var reader: PipelineBody.Chunks.AsyncIterator?
        private var readByteCount = 0
        private var isFinished = false

        init(_ chunks: MultipartChunks) {
            self.chunks = chunks
        }

        mutating func next() async throws -> Data? {
            guard !isFinished else { return nil }
            do {
                if let chunk = try await nextOfPart() { return chunk }
                return gather()
            } catch {
                // After an error, no more bytes may be sent, even if the caller reads on.
                isFinished = true
                reader = nil
                throw error
            }
        }

        /// Returns the next chunk of the current part, and never more bytes than the part announced.
        private mutating func nextOfPart() async throws -> Data? {
            guard reader != nil else { return nil }
            let section = chunks.sections[index]
            while let chunk = try await reader?.next() {
                guard !chunk.isEmpty else { continue }
                readByteCount += chunk.count
                if let byteCount = section.byteCount, readByteCount > byteCount {
                    throw changed(section, "more than the \(byteCount) bytes that were announced")
                }
                return chunk
            }
            // A stream may end because its reader is cancelled; the next parts would make the form look complete.
            try Task.checkCancellation()
            if let byteCount = section.byteCount, readByteCount < byteCount {
                throw changed(section, "\(readByteCount) bytes, \(byteCount) were announced")
            }
            reader = nil
            index += 1
            return nil
        }

        /// Combines the parts in memory up to the next part that must be read.
        private mutating func gather() -> Data {
            var gathered = Data()
            while index < chunks.sections.count {
                let section = chunks.sections[index]
                gathered += section.head
                guard let bytes = section.body.bytes, bytes.count < MultipartChunks.gatheredByteCount else {
                    reader = section.body.chunks().makeAsyncIterator()
                    readByteCount = 0
                    return gathered
                }
                gathered += bytes
                index += 1
                if gathered.count >= MultipartChunks.gatheredByteCount { return gathered }
            }
            isFinished = true
            return gathered + chunks.end
        }

        private func changed(_ section: Section, _ what: String) -> PipelineError {
            PipelineError(.bodyChanged, "\(section.label) had \(what)")
        }
    }
}
