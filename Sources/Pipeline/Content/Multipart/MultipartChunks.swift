import Foundation

/// The bytes of a multipart body in pieces; each reading begins anew.
struct MultipartChunks: AsyncSequence, Sendable {
    /// A part with what stands before it.
    struct Section: Sendable {
        /// The delimiter and the header fields.
        let head: Data
        let body: PipelineBody
        /// What was announced, `nil` when nothing was.
        var byteCount: Int?
        /// How an error names the part.
        let label: String
    }

    /// Parts in memory are gathered up to this size, larger ones are passed on as they are.
    private static let gatheredByteCount = 64 << 10

    private(set) var sections: [Section]
    /// What stands after the last part.
    let end: Data

    init(sections: [Section], end: Data) {
        self.sections = sections
        self.end = end
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    var isReplayable: Bool { sections.allSatisfy(\.body.isReplayable) }

    /// The same with the lengths of its files as they are now; the calling thread waits for the file system.
    func measured() throws -> MultipartChunks {
        var copy = self
        for (index, section) in sections.enumerated() {
            guard let url = section.body.fileURL else { continue }
            copy.sections[index].byteCount = try PipelineBody.requireReadableFile(url, part: section.label)
        }
        return copy
    }

    /// The length in all, `nil` when that of a part is unknown.
    func byteCount() throws -> Int? {
        var total = end.count
        for section in sections {
            guard let byteCount = section.byteCount else { return nil }
            let sum = (total + section.head.count).addingReportingOverflow(byteCount)
            // Half of what an Int holds leaves room for any heads.
            guard !sum.overflow, sum.partialValue <= Int.max >> 1 else {
                throw PipelineError(.encoding, "\(section.label) announces more bytes than can be sent")
            }
            total = sum.partialValue
        }
        return total
    }

    /// The whole when all parts are in memory, `nil` otherwise.
    func bytes(byteCount: Int) -> Data? {
        var whole = Data(capacity: byteCount)
        for section in sections {
            guard let bytes = section.body.bytes else { return nil }
            whole += section.head
            whole += bytes
        }
        return whole + end
    }

    /// Reads part by part; dropped, it closes the file that it was reading.
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
                // After an error nothing more may reach the wire, whoever asks.
                isFinished = true
                reader = nil
                throw error
            }
        }

        /// The next piece of the part that is being read, never more than it announced.
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
            // A stream may end because its reader is cancelled: what follows would make the form look whole.
            try Task.checkCancellation()
            if let byteCount = section.byteCount, readByteCount < byteCount {
                throw changed(section, "\(readByteCount) bytes, \(byteCount) were announced")
            }
            reader = nil
            index += 1
            return nil
        }

        /// What is in memory from here on, up to the next part that has to be read.
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
