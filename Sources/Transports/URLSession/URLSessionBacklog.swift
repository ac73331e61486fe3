import Foundation
import Pipeline

/// Bytes that have arrived and that nobody has read: in memory up to a limit, and then in a temporary file where that is allowed.
struct URLSessionBacklog {
    private static let pieceByteCount = 1 << 20

    private let memoryLimit: Int
    private let spills: Bool
    private var memory = Data()
    private var spool: Spool?

    private struct Spool {
        let file: URLSessionSpool
        let writer: FileHandle
        let reader: FileHandle
        var unreadByteCount = 0
    }

    /// - Parameters:
    ///   - memoryLimit: the most bytes in memory.
    ///   - spills: whether more go into a file, else they are refused.
    init(memoryLimit: Int, spills: Bool) {
        self.memoryLimit = memoryLimit
        self.spills = spills
    }

    var isEmpty: Bool { memory.isEmpty && spool == nil }

    /// Adds bytes; gives back whether there was room.
    mutating func append(_ data: Data) throws -> Bool {
        // Once some are in the file, those that follow have to come after them.
        if spool == nil {
            if data.count <= memoryLimit - memory.count {
                if memory.isEmpty { memory = data } else { memory.append(data) }
                return true
            }
            guard spills else { return false }
            let file = try URLSessionSpool()
            spool = Spool(
                file: file,
                writer: try FileHandle(forWritingTo: file.url),
                reader: try FileHandle(forReadingFrom: file.url)
            )
        }
        if let writer = spool?.writer { try URLSessionSpool.write(data, to: writer) }
        spool?.unreadByteCount += data.count
        return true
    }

    /// The oldest bytes; `nil` when there are none.
    mutating func take() throws -> Data? {
        if !memory.isEmpty {
            defer { memory = Data() }
            return memory
        }
        guard let spool else { return nil }
        guard let piece = try spool.reader.read(upToCount: min(Self.pieceByteCount, spool.unreadByteCount)),
            !piece.isEmpty
        else { throw PipelineError(.file(.unreadable), "the temporary file for the body cannot be read") }
        self.spool?.unreadByteCount -= piece.count
        // Read to its end: what comes next has room in memory again.
        if self.spool?.unreadByteCount == 0 { self.spool = nil }
        return piece
    }

    mutating func removeAll() {
        memory = Data()
        spool = nil
    }
}
